import { exportUsageEndpoint } from '@paddock/api/usage/export-usage';
import { listUsageEndpoint } from '@paddock/api/usage/list-usage';
import { askCommand } from './ask-command.ts';
import { columns } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { DATES, ENTITY, more, POOL } from './list-options.ts';

const options = {
  by: { type: 'string', value: 'repository|workflow|pool|entity', doc: 'what the sums are of' },
  entity: ENTITY,
  repository: { type: 'string', value: 'OWNER/NAME|ID', doc: 'of this repository only' },
  pool: POOL,
  ...DATES,
} as const;

const percent = (share: number | null): string | null =>
  share === null ? null : `${(share * 100).toFixed(1)} %`;

const asTable = askCommand({
  name: 'usage',
  takes: '',
  summary: `Sums up jobs, runner minutes and queue times, the most minutes first: of the last 7 days, by
repository, unless said. A span has at most 31 days.`,
  options: {
    ...options,
    ...PAGE,
    csv: { type: 'boolean', doc: 'all rows as CSV' },
  },
  endpoint: listUsageEndpoint,
  input: (given) => given.options,
  print: ({ from, to, summedAt, total, items, next }) =>
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
    more(next),
});

const asCsv = askCommand({
  ...asTable,
  endpoint: exportUsageEndpoint,
  input: (given) => given.options,
  print: (csv) => csv,
});

export const usage: Command = {
  ...asTable,
  run: (given) => (given.options['csv'] === true ? asCsv : asTable).run(given),
};

type Row = Awaited<ReturnType<typeof listUsageEndpoint.answer>>['items'][number];

function nameOf({ entity, repository, workflow, pool }: Row): string {
  if (pool !== null) return pool;
  if (entity !== null) return entity.login ?? String(entity.id);
  if (repository === null) return 'workers without a job';
  const name = repository.fullName ?? String(repository.id);
  return workflow === null ? name : `${name} / ${workflow}`;
}

const figures = (sums: Row | Awaited<ReturnType<typeof listUsageEndpoint.answer>>['total']) => [
  sums.jobs,
  sums.workers,
  sums.runnerMinutes.toFixed(1),
  percent(sums.idleShare),
  percent(sums.thrownAwayShare),
];
