import type { listUsageEndpoint } from '@paddock/api/usage/usage';
import type { z } from 'zod';
import { columns, more } from './columns.ts';

type Usage = z.input<typeof listUsageEndpoint.output>;

/** A line for each group, and one for all. */
export const describeUsage = ({ from, to, summedAt, total, items, next }: Usage): string =>
  columns(
    ['OF', 'JOBS', 'WORKERS', 'MINUTES', 'IDLE', 'THROWN AWAY', 'QUEUED P50', 'P95'],
    [
      ...items.map((row) => [
        nameOf(row),
        ...figures(row),
        row.queuedSeconds && `${row.queuedSeconds.p50} s`,
        row.queuedSeconds && `${row.queuedSeconds.p95} s`,
      ]),
      ...(items.length === 0 ? [] : [['in all', ...figures(total), null, null]]),
    ],
    `Nothing has ended from ${from} to ${to}.`,
  ) +
  `\nFrom ${from} to ${to}, summed up ${summedAt === null ? 'never: the sweep upkeep has summed up nothing' : `at ${summedAt}`}\n` +
  more(next);

const percent = (share: number | null): string | null =>
  share === null ? null : `${(share * 100).toFixed(1)} %`;

type Row = Usage['items'][number];

function nameOf({ entity, repository, workflow, pool }: Row): string {
  if (pool !== null) return pool;
  if (entity !== null) return entity.login ?? String(entity.id);
  if (repository === null) return 'workers without a job';
  const name = repository.fullName ?? String(repository.id);
  return workflow === null ? name : `${name} / ${workflow}`;
}

const figures = (sums: Row | Usage['total']) => [
  sums.jobs,
  sums.workers,
  sums.runnerMinutes.toFixed(1),
  percent(sums.idleShare),
  percent(sums.thrownAwayShare),
];
