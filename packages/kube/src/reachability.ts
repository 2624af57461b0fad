import { isAway, type KubeFailure } from './errors.ts';

/** Told when the API server goes and when it is back, once each. Nothing here may throw. */
export interface ReachabilityEvents {
  /** With the first failure. */
  away(failure: KubeFailure): void;
  /** How long it was away, and how many calls failed meanwhile. */
  back(outage: { readonly ms: number; readonly failedCalls: number }): void;
}

/** How long calls are answered before the server counts as back: one that answers every other call is one outage, not many. */
const CALM_MS = 5_000;

interface Outage {
  readonly since: number;
  failedCalls: number;
  lastFailureAt: number;
  /** The first answer since then. */
  answeredAt: number | undefined;
}

/**
 * Makes what each call is reported to: with its failure, if it has one. An answer after which nothing fails for the calm time is the end,
 * whether or not anything else is called: a quiet cluster has one watch and no other call for minutes. Times in milliseconds of a clock
 * that only goes forward.
 */
export function createReachability(events: ReachabilityEvents, now: () => number = () => performance.now()) {
  let outage: Outage | undefined;
  let calm: NodeJS.Timeout | undefined;
  const lookAgain = (): void => {
    if (outage?.answeredAt === undefined) return;
    const leftMs = outage.lastFailureAt + CALM_MS - now();
    clearTimeout(calm);
    if (leftMs > 0) {
      calm = setTimeout(lookAgain, leftMs).unref();
      return;
    }
    events.back({ ms: outage.answeredAt - outage.since, failedCalls: outage.failedCalls });
    outage = undefined;
  };
  return (failure?: KubeFailure): void => {
    const at = now();
    if (failure !== undefined && isAway(failure)) {
      if (outage === undefined) events.away(failure);
      outage = { since: outage?.since ?? at, failedCalls: (outage?.failedCalls ?? 0) + 1, lastFailureAt: at, answeredAt: undefined };
      return;
    }
    if (outage === undefined) return;
    outage.answeredAt ??= at;
    lookAgain();
  };
}
