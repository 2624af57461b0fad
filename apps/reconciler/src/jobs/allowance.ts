import type { RateBudget } from '@paddock/github/budget';

/** A share of an installation's remaining budget, for one pass. */
export interface Allowance {
  /** Takes one call out of it; false if there is none left, or if so large a part of it (0–1) is used up. */
  take(part?: number): boolean;
  /** The call cost nothing: GitHub said that nothing has changed. */
  giveBack(): void;
}

/**
 * What remains is what the newest answer told; while none has, or its hour is over, a call is free. So a pass begins with one call at least,
 * and a server that never tells sets no limit. Pages after the first of a list are not counted here, only in what remains.
 */
export function createAllowance(budget: () => RateBudget | undefined, percent: number, now: () => number = Date.now): Allowance {
  let taken = 0;
  return {
    take(part = 1) {
      const known = budget();
      const isKnown = known !== undefined && known.resetAt > now();
      if (isKnown && taken >= ((known.remaining + taken) * percent * part) / 100) return false;
      taken++;
      return true;
    },
    giveBack: () => void taken--,
  };
}

/** The allowance of each installation, for one pass. */
export function createAllowances(
  budgetOf: (installationId: number) => RateBudget | undefined,
  percent: number,
): (installationId: number) => Allowance {
  const allowances = new Map<number, Allowance>();
  return (installationId) => {
    const known = allowances.get(installationId) ?? createAllowance(() => budgetOf(installationId), percent);
    allowances.set(installationId, known);
    return known;
  };
}
