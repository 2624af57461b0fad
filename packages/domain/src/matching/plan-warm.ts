import { type HeldBack, isWantedByJobs } from './plan-spare.ts';
import { planMaking } from './plan-making.ts';
import { type Snapshot, spareOf, type WorkersToMake } from './snapshot.ts';

/** How the configuration gets the idle workers that it wants. */
export interface WarmPlan {
  /** How many spare workers of a key are to be marked as warm, those that are already included. */
  readonly mark: readonly { readonly demandKey: number; readonly count: number }[];
  /** Names of marked workers that are too old and end. */
  readonly renew: readonly string[];
  readonly make: readonly WorkersToMake[];
}

/** A tenth of the warm workers of a key may be replaced at a time, and one always. */
const RENEWED_AT_ONCE = 10;

/**
 * Marks spare workers, replaces old ones by new ones a few at a time, and makes the missing ones:
 * as far as caps allow, `most` at most, and only where no job waits for the same place.
 */
export function planWarm(
  snapshot: Snapshot,
  heldBack: readonly HeldBack[],
  most: number,
): WarmPlan {
  const keys = snapshot.warm.map((key) => {
    const renew = key.aged.slice(
      0,
      Math.max(0, Math.ceil(key.wanted / RENEWED_AT_ONCE) - key.renewing),
    );
    const spare = spareOf(key);
    return {
      ...key,
      renew,
      kept: Math.min(key.wanted, spare),
      lacking: key.wanted - spare + renew.length,
      oldest: 0,
    };
  });
  const wanting = keys.filter((key) => key.lacking > 0 && !isWantedByJobs(heldBack, key));
  return {
    mark: keys.flatMap(({ demandKey, kept, marked }) =>
      kept > marked ? [{ demandKey, count: kept }] : [],
    ),
    renew: keys.flatMap(({ renew }) => renew),
    make: most > 0 ? planMaking({ ...snapshot, jobTimes: new Map() }, wanting, most).make : [],
  };
}
