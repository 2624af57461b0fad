import { duration } from '../text/duration.ts';
import { type KnownStart, playForward } from './play-forward.ts';
import { count } from './reason-explanations.ts';
import type { StartFacts, WaitFacts } from './wait-facts.ts';
import type { WorkerOnItsWay, WorkerState } from './worker-progress.ts';

/** When a waiting job starts, as far as its queue tells. */
export interface Estimate {
  /** From now; null: there is no estimate. */
  readonly p50Ms: number | null;
  readonly p90Ms: number | null;
  /** The numbers and what they rest on, or why there are none. */
  readonly sentence: string;
}

/** How many starts are looked at, beside those whose workers still have their jobs. */
export const LAST_STARTS = 50;
/** Fewer tell nothing. */
const FEWEST = 10;

/** What pace can tell of: the room of a cap is given out again when a worker ends. */
const CAPS: ReadonlySet<string | null> = new Set([
  'at_entity_cap',
  'at_common_cap',
  'at_pool_cap',
  'at_repository_cap',
]);
const HEALTHY: ReadonlySet<WorkerState> = new Set([
  'ready',
  'starting',
  'registered',
  'registering',
  'reserved',
]);

/**
 * Plays forward what the key's last starts have shown. `reason` is that of the answer: null if the
 * job's worker is on its way or is made at once.
 */
export function estimateStart(
  facts: Pick<WaitFacts, 'now' | 'key' | 'place' | 'caps' | 'starts'>,
  reason: string | null,
  workers: readonly WorkerOnItsWay[],
): Estimate {
  const { now, key, place, caps, starts } = facts;
  if (reason !== null && !CAPS.has(reason))
    return none('the pace of its queue does not tell when this ends');
  if (place === null) return none('it is not among the jobs that wait for workers');
  const closed = caps.find(({ limit }) => limit === 0);
  if (closed !== undefined) return none(`${closed.name} is 0`);
  const known = knownStarts(starts, now);
  const ended = known.filter(({ hasEnded }) => hasEnded);
  if (ended.length < FEWEST)
    return none(
      `${count(ended.length, 'job')} of its queue ended on our workers lately, and fewer than ${FEWEST} tell nothing`,
    );
  const coming = workers.filter(({ state }) => state !== 'stopping');
  const onTheWayMs = coming.filter(({ state }) => HEALTHY.has(state)).map(({ ageMs }) => ageMs);
  const busyMs = known.filter(({ hasEnded }) => !hasEnded).map(({ heldMs }) => heldMs);
  const isCapped = key !== null && key.waitReason !== null;
  const toMake = isCapped ? 0 : Math.max(0, place.position - coming.length);
  const kept = Math.min(1, ...caps.map(({ used, limit }) => limit / used));
  const surplus = Math.ceil(busyMs.length * (1 - kept));
  const plays = playForward({
    position: place.position,
    toMake,
    onTheWayMs,
    busyMs,
    surplus,
    known,
  });
  const [p50Ms, p90Ms] = [0.5, 0.9].map((part) => plays[Math.floor(part * plays.length)]);
  if (p50Ms === undefined || p90Ms === undefined)
    return none('no worker of its queue lives, so it waits for those of others');
  const longestWay = Math.max(...ended.map(({ wayMs }) => wayMs));
  const longest = Math.max(...ended.map(({ heldMs }) => heldMs));
  if (
    toMake === 0 &&
    onTheWayMs.every((ageMs) => ageMs > longestWay) &&
    busyMs.every((heldMs) => heldMs > longest)
  )
    return none(`all workers of its queue take longer than its last ${ended.length} did`);
  const before = `${count(place.position - 1, 'job')} of its queue before it, ${count(busyMs.length, 'worker')} with a job, ${onTheWayMs.length + toMake} on the way`;
  return {
    p50Ms: Math.round(p50Ms),
    p90Ms: Math.round(p90Ms),
    sentence: `It starts in about ${roughly(p50Ms)} (p50), nine times in ten within ${roughly(p90Ms)} (p90): ${before}; its last ${count(ended.length, 'job')} kept a worker for ${roughly(medianOf(ended))} (median).`,
  };
}

const none = (why: string): Estimate => ({
  p50Ms: null,
  p90Ms: null,
  sentence: `No estimate: ${why}.`,
});

/** In the order of their starts. A late delivery may tell of a job after its worker's end. */
function knownStarts(starts: readonly StartFacts[], now: Date): KnownStart[] {
  const busy = starts.filter(({ endedAt }) => endedAt === null);
  return starts
    .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime())
    .slice(-LAST_STARTS - busy.length)
    .map(({ reservedAt, startedAt, endedAt }) => ({
      wayMs: Math.max(1, startedAt.getTime() - reservedAt.getTime()),
      heldMs: Math.max(1, (endedAt ?? now).getTime() - startedAt.getTime()),
      hasEnded: endedAt !== null,
    }));
}

const medianOf = (ended: readonly KnownStart[]): number =>
  ended.map(({ heldMs }) => heldMs).toSorted((a, b) => a - b)[Math.floor(ended.length / 2)] ?? 0;

/** To ten seconds where that says enough. */
function roughly(ms: number): string {
  const unit = ms < 120_000 ? 1_000 : 10_000;
  return duration(Math.round(ms / unit) * unit);
}
