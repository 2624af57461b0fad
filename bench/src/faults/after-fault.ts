import type { JobTruth } from '@paddock/simulators/github/control';

/**
 * How long after an instant the jobs that waited for a runner then had one, in seconds, in order;
 * Infinity for a job that never had one. Instants are milliseconds since the epoch.
 */
export function waitedAfter(
  instant: number | undefined,
  queuedAt: ReadonlyMap<number, number>,
  jobs: readonly Pick<JobTruth, 'id' | 'leftQueueAt' | 'conclusion' | 'runnerName'>[],
): number[] {
  if (instant === undefined) return [];
  const waited = jobs.flatMap(({ id, leftQueueAt, conclusion, runnerName }) => {
    const isCancelled = conclusion === 'cancelled' && runnerName === null;
    const leftAt = leftQueueAt === null ? Infinity : Date.parse(leftQueueAt);
    return (queuedAt.get(id) ?? Infinity) < instant && leftAt > instant && !isCancelled
      ? [(leftAt - instant) / 1_000]
      : [];
  });
  return waited.toSorted((a, b) => a - b);
}
