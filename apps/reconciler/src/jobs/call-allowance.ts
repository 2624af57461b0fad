import type { RateBudget } from '@paddock/github/budget';

/** A share of an installation's remaining budget, for one pass. */
export interface Allowance {
  /** Takes one call. False if none is left. */
  take(): boolean;
  /** The call cost nothing: GitHub answered that nothing has changed. */
  giveBack(): void;
}

/**
 * GitHub's newest answer says how many calls remain. Without one, or after its hour, calls are
 * free: a pass makes at least one call, and a server without limits sets none. Only the first page
 * of a list counts here; GitHub's next answer shows the cost of its further pages.
 */
export function createAllowance(budget: () => RateBudget | undefined, percent: number): Allowance {
  let taken = 0;
  return {
    take() {
      const known = budget();
      const isKnown = known !== undefined && known.resetAt > Date.now();
      if (isKnown && taken >= ((known.remaining + taken) * percent) / 100) return false;
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
    const known =
      allowances.get(installationId) ?? createAllowance(() => budgetOf(installationId), percent);
    allowances.set(installationId, known);
    return known;
  };
}
