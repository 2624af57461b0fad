import type { JobTruth } from '@paddock/simulators/github/truth';
import { quantileOf } from '../bench.ts';
import { type Fault, type Hit, isHit } from './fault.ts';
import type { Left } from './look-at.ts';
import { missingSigns, type Signs } from './signs.ts';
import { UMBRA_REPOSITORIES } from './world.ts';

/** On a busy machine every fault delays some deliveries. */
const TOLD_LATE = 0.05;

/** The counts of a run, beside the remains of it. */
interface Counted extends Pick<Left, 'excessWorkers'> {
  readonly signs: Signs;
  readonly callsAgainstWait: number;
  /** The first of these calls. */
  readonly firstAgainstWait: readonly string[];
}

/**
 * The reasons why a run fails: results that its fault does not explain, or a fault that has not
 * struck.
 */
export function complaintsOf(
  { signs: wanted, excess = TOLD_LATE, lostWaits = 0 }: Fault,
  jobs: number,
  { signs, callsAgainstWait, firstAgainstWait, excessWorkers }: Counted,
): string[] {
  const complaints = missingSigns(wanted, signs);
  const allowed = Math.ceil(jobs * excess);
  if (callsAgainstWait > lostWaits)
    complaints.push(
      `${callsAgainstWait} calls against a Retry-After: ${firstAgainstWait.join(', ')}`,
    );
  if (excessWorkers > allowed)
    complaints.push(
      `${excessWorkers} workers were made in excess, and the fault explains ${allowed}`,
    );
  return complaints;
}

/** When it left the queue. */
const leftAt = ({ leftQueueAt }: JobTruth): number =>
  leftQueueAt === null ? Infinity : Date.parse(leftQueueAt);

/**
 * How long after an instant the jobs that waited for a runner then had one, in seconds, in order;
 * Infinity for a job that never had one. Instants are milliseconds since the epoch.
 */
export function waitedAfter(
  instant: number | undefined,
  queuedAt: ReadonlyMap<number, number>,
  jobs: readonly JobTruth[],
): number[] {
  if (instant === undefined) return [];
  const waited = jobs.filter(
    (job) =>
      (queuedAt.get(job.id) ?? Infinity) < instant &&
      leftAt(job) > instant &&
      !(job.conclusion === 'cancelled' && job.runnerName === null),
  );
  return waited.map((job) => (leftAt(job) - instant) / 1_000).toSorted((a, b) => a - b);
}

/** How long each job of others waited for its start, in seconds, in order; Infinity: for ever. */
export function othersStarts(
  hit: Hit | undefined,
  queuedAt: ReadonlyMap<number, number>,
  jobs: readonly JobTruth[],
): number[] {
  if (hit === undefined) return [];
  return jobs
    .filter(({ id, repo }) => queuedAt.has(id) && !isHit(hit, repo))
    .map((job) => Math.max(0, leftAt(job) - (queuedAt.get(job.id) ?? 0)) / 1_000)
    .toSorted((a, b) => a - b);
}

/** Undefined where there are no others. */
export const p99Of = (starts: readonly number[]): number | undefined =>
  starts.length === 0 ? undefined : quantileOf(starts, 0.99);

/** Others may wait for so many times as long as without the fault. */
const AT_MOST = 1.5;
/**
 * What is shorter counts as this many seconds. The p99 of few jobs is that of the slowest, and CI
 * plays several rows at a time. The shortest pause of a key is 30 s, which this still notices.
 */
const FLOOR_S = 2;
const FLOOR_OF_FEW_S = 10;
const MANY = 50;

/** Whether others waited longer than they may, in words. */
export function complaintsOfOthers(
  starts: readonly number[],
  p99Without: number,
  jobs: number,
): string[] {
  const p99 = p99Of(starts);
  if (p99 === undefined) return [];
  const most = AT_MOST * Math.max(p99Without, jobs < MANY ? FLOOR_OF_FEW_S : FLOOR_S);
  if (p99 <= most) return [];
  const [had, without, may] = [p99, p99Without, most].map((seconds) => `${seconds.toFixed(1)} s`);
  return [
    `others started within ${had} (p99), without the fault within ${without}, and may within ${may}`,
  ];
}

/** The same jobs without the fault. Faults that hit others alike share it. */
export function withoutFault({
  atUsualTimes = false,
  unannounced = false,
  betweenJobsMs,
  hit,
}: Fault): Fault {
  // Unheard jobs do not run beside those of others.
  const first = hit?.unheard === true ? 0 : (hit?.first ?? 0);
  const isApart = first > 0 && hit?.ownPool === true;
  return {
    name: `without ${atUsualTimes} ${unannounced} ${betweenJobsMs} ${first} ${isApart}`,
    signs: {},
    atUsualTimes,
    unannounced,
    ...(betweenJobsMs === undefined ? {} : { betweenJobsMs }),
    hit: { repositories: UMBRA_REPOSITORIES, first, ...(isApart ? { ownPool: true } : {}) },
  };
}
