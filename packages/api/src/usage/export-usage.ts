import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { findUsage, usageInput, type UsageRow } from './list-usage.ts';

/** More groups than a sheet is read for; their text is some megabytes. */
const MOST_ROWS = 10_000;

export const exportUsageEndpoint = endpoint({
  name: 'exportUsage',
  method: 'GET',
  path: '/api/v1/usage.csv',
  summary: `Answers the usage of a span as CSV, with at most ${MOST_ROWS} rows.`,
  access: 'read',
  status: 200,
  media: 'text/csv',
  input: z.object(usageInput),
  output: z.string(),
  async answer(caller, input) {
    const { rows } = await findUsage(caller, input, { limit: MOST_ROWS });
    return [HEADS, ...rows.map(cellsOf)]
      .map((cells) => `${cells.map(cell).join(',')}\r\n`)
      .join('');
  },
});

const HEADS = [
  'entity',
  'repository',
  'workflow',
  'pool',
  'jobs',
  'workers',
  'runner_minutes',
  'idle_minutes',
  'thrown_away_minutes',
  'queued_p50_seconds',
  'queued_p95_seconds',
];

function cellsOf({
  entity,
  repository,
  workflow,
  pool,
  queuedSeconds,
  ...sums
}: UsageRow): (string | number | null)[] {
  return [
    entity?.login ?? entity?.id ?? null,
    repository?.fullName ?? repository?.id ?? null,
    workflow,
    pool,
    sums.jobs,
    sums.workers,
    sums.runnerMinutes,
    sums.idleMinutes,
    sums.thrownAwayMinutes,
    queuedSeconds?.p50 ?? null,
    queuedSeconds?.p95 ?? null,
  ];
}

/** What a sheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** RFC 4180. Foreign text that looks like a formula gets an apostrophe, which makes it text. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
