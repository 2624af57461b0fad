import type { RateBudget } from '@paddock/github/budget';

/** A share of an installation's remaining budget, for one pass. */
export interface Allowance {
  /** Takes one call. False if none is left. */
  take(): boolean;
  /** The call cost nothing: GitHub answered that nothing has changed. */
  giveBack(): void;
}

/**
 * The allowance of each installation, for one pass. GitHub's newest answer says how many calls
 * remain. Without one, or after its hour, calls are free: a pass makes at least one call, and a
 * server without limits sets none. Only the first page of a list counts here; GitHub's next answer
 * shows the cost of its further pages.
 */
export function createAllowances(
  budgetOf: (installationId: number) => RateBudget | undefined,
  percent: number,
): (installationId: number) => Allowance {
  const taken = new Map<number, number>();
  return (installationId) => {
    const take = (calls: number) => {
      taken.set(installationId, (taken.get(installationId) ?? 0) + calls);
      return true;
    };
    return {
      take() {
        const used = taken.get(installationId) ?? 0;
        const known = budgetOf(installationId);
        const isKnown = known !== undefined && known.resetAt > Date.now();
        return !(isKnown && used >= ((known.remaining + used) * percent) / 100) && take(1);
      },
      giveBack: () => void take(-1),
    };
  };
}
