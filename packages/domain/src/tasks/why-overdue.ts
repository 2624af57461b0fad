/** A sweep's passes since the last success, in seconds before now. */
export interface PassesSinceSuccess {
  readonly secondsSinceTick: number;
  readonly pausedBy: string | null;
  readonly runningSeconds: number | null;
  readonly dueSeconds: number | null;
  readonly retryMessage: string | null;
  readonly failureMessage: string | null;
  /** Entities that two passes running have not reached. */
  readonly missed: number;
}

/** One or two failed passes are normal. */
const CADENCES = 3;

/** The longest time of one pass, the same as of a task. */
const PASS_SECONDS = 300;

/** Whether a sweep's last success is so long ago that an operator should know. */
export const isOverdue = (secondsSinceSuccess: number, everySeconds: number): boolean =>
  secondsSinceSuccess > CADENCES * everySeconds + PASS_SECONDS;

/** Why a sweep has not succeeded, as a sentence. The current cause comes before earlier ones. */
export function whyOverdue(passes: PassesSinceSuccess, everySeconds: number): string {
  const { secondsSinceTick, pausedBy, runningSeconds, dueSeconds, missed } = passes;
  const said = passes.retryMessage ?? passes.failureMessage;
  if (pausedBy !== null) return `it was paused by ${pausedBy}`;
  if (said !== null) return `its last pass failed: ${said}`;
  if (runningSeconds !== null) return `a pass has been running for ${Math.round(runningSeconds)} s`;
  if (dueSeconds !== null && dueSeconds > everySeconds)
    return `its task is due, and no executor has taken it for ${Math.round(dueSeconds)} s`;
  if (secondsSinceTick > CADENCES * everySeconds)
    return `no replica has taken a tick of it for ${Math.round(secondsSinceTick)} s`;
  if (missed > 0) return `its passes end before they reach ${missed} entities`;
  return 'its passes end without a result';
}
