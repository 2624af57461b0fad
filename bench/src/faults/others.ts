import type { JobTruth } from '@paddock/simulators/github/control';
import { quantileOf } from '../figures.ts';
import type { Fault, Hit } from './fault.ts';
import { isHit } from './queue-jobs.ts';
import { UMBRA_REPOSITORIES } from './stage.ts';

/** Others may wait for so many times as long as without the fault. */
const AT_MOST = 1.5;
/**
 * What is shorter counts as this many seconds. The p99 of few jobs is that of the slowest, and CI
 * plays several rows at a time. The shortest pause of a key is 30 s, which this still notices.
 */
const FLOOR_S = 2;
const FLOOR_OF_FEW_S = 10;
const MANY = 50;

/** How long each job of others waited for its start, in seconds, in order; Infinity: for ever. */
export function othersStarts(
  hit: Hit | undefined,
  queuedAt: ReadonlyMap<number, number>,
  jobs: readonly Pick<JobTruth, 'id' | 'repo' | 'leftQueueAt'>[],
): number[] {
  if (hit === undefined) return [];
  return jobs
    .filter(({ id, repo }) => queuedAt.has(id) && !isHit(hit, repo))
    .map(({ id, leftQueueAt }) =>
      leftQueueAt === null
        ? Infinity
        : Math.max(0, Date.parse(leftQueueAt) - (queuedAt.get(id) ?? 0)) / 1_000,
    )
    .toSorted((a, b) => a - b);
}

/** Undefined where there are no others. */
export const p99Of = (starts: readonly number[]): number | undefined =>
  starts.length === 0 ? undefined : quantileOf(starts, 0.99);

/** Whether others waited longer than they may, in words. */
export function complaintsOfOthers(
  starts: readonly number[],
  p99Without: number,
  jobs: number,
): string[] {
  const p99 = p99Of(starts);
  if (p99 === undefined) return [];
  const most = AT_MOST * Math.max(p99Without, jobs < MANY ? FLOOR_OF_FEW_S : FLOOR_S);
  return p99 <= most
    ? []
    : [
        `others started within ${p99.toFixed(1)} s (p99), without the fault within ${p99Without.toFixed(1)} s, and may within ${most.toFixed(1)} s`,
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
