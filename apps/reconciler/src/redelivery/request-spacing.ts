const STEPS = [1, 1, 1, 2, 4, 8];
const LAST_STEP = 12;

/**
 * The wait in milliseconds after the nth request (from 1) for one delivery. A first step of 5
 * minutes gives 5, 5, 5, 10, 20, 40, then always 60 minutes.
 */
export const requestSpacingMs = (requests: number, firstStepMs: number): number =>
  firstStepMs * (STEPS[requests - 1] ?? LAST_STEP);
