import { isAway, type KubeFailure } from './errors.ts';

/** Called once when the API server goes away, and once when it is back. Must not throw. */
export interface ReachabilityEvents {
  /** Gets the first failure. */
  away(failure: KubeFailure): void;
  /** Gets how long it was away, and how many calls failed meanwhile. */
  back(outage: { readonly ms: number; readonly failedCalls: number }): void;
}

/** Calls must succeed for this long until the server is back: flapping counts as one outage. */
const CALM_MS = 5_000;

interface Outage {
  readonly since: number;
  failedCalls: number;
  lastFailureAt: number;
  /** The first answer since the last failure. */
  answeredAt: number | undefined;
}

/**
 * Makes the function that each call reports its end to, with its failure if it failed. An outage
 * ends with the first answer after which nothing fails for `CALM_MS`. A timer decides this: a quiet
 * cluster may have no further call for minutes. `now` is a monotonic clock in milliseconds.
 */
export function createReachability(
  events: ReachabilityEvents,
  now: () => number = () => performance.now(),
) {
  let outage: Outage | undefined;
  let calm: NodeJS.Timeout | undefined;
  const endIfCalm = (): void => {
    if (outage?.answeredAt === undefined) return;
    const leftMs = outage.lastFailureAt + CALM_MS - now();
    clearTimeout(calm);
    if (leftMs > 0) {
      calm = setTimeout(endIfCalm, leftMs).unref();
      return;
    }
    events.back({ ms: outage.answeredAt - outage.since, failedCalls: outage.failedCalls });
    outage = undefined;
  };
  return (failure?: KubeFailure): void => {
    const at = now();
    if (failure !== undefined && isAway(failure)) {
      if (outage === undefined) events.away(failure);
      outage = {
        since: outage?.since ?? at,
        failedCalls: (outage?.failedCalls ?? 0) + 1,
        lastFailureAt: at,
        answeredAt: undefined,
      };
      return;
    }
    if (outage === undefined) return;
    outage.answeredAt ??= at;
    endIfCalm();
  };
}
