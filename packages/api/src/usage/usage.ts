import {
  findUsageSummedAt,
  readUsage,
  type UsageFilter,
  type UsagePosition,
  type UsageRow,
  type UsageSums,
} from '@paddock/db/people/read-usage';
import { z } from 'zod';
import type { Caller } from '../endpoint.ts';
import { dates } from '../lists/dates.ts';
import { entity, entityIdOf, ofKnownPool, pool, repoIdOf, repository } from '../lists/named.ts';
import { wrong } from '../problem.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A longer span would read more rows than an answer has time for. */
const LONGEST_DAYS = 31;
const USUAL_DAYS = 7;

const BY = ['repository', 'workflow', 'pool', 'entity'] as const;

/** The inputs of each question about usage. */
export const usageInput = {
  by: z.enum(BY).default('repository').describe('What the sums are of'),
  entity,
  repository,
  pool,
  from: dates.from.describe(`${dates.from.description}; 7 days before the end without it`),
  to: dates.to,
};

export type UsageInput = z.output<z.ZodObject<typeof usageInput>>;

const minutes = z.number().min(0);
const share = z
  .number()
  .min(0)
  .max(1)
  .nullable()
  .describe('Of the runner minutes; null: there are none');

const sums = {
  jobs: z.int().describe('That have ended'),
  workers: z.int().describe('That have ended'),
  runnerMinutes: minutes.describe('From the start of each pod to its end'),
  idleMinutes: minutes.describe('Of it, when no job ran'),
  thrownAwayMinutes: minutes.describe('Of it, that of workers which failed'),
  idleShare: share,
  thrownAwayShare: share,
};

/** A row of usage. What it is not by is null. */
export const usageRow = z.object({
  entity: z.object({ id: z.int(), login: z.string().nullable() }).nullable(),
  repository: z
    .object({ id: z.int(), fullName: z.string().nullable() })
    .nullable()
    .describe('Null, in sums by repository or workflow: workers without a job'),
  workflow: z.string().nullable(),
  pool: z.string().nullable(),
  ...sums,
  queuedSeconds: z
    .object({ p50: z.int(), p95: z.int() })
    .nullable()
    .describe('Until they started, rounded to two digits; null: no job has started'),
});

export const usageSpan = {
  from: z.iso.datetime().describe('The beginning of an hour'),
  to: z.iso.datetime().describe('The end of an hour'),
  summedAt: z.iso
    .datetime()
    .nullable()
    .describe('When the sums were last made; null: the sweep `upkeep` has summed up nothing'),
  total: z.object(sums).describe('Of all rows'),
};

/** The rows of a page, and what stands above them. */
export interface Usage {
  readonly rows: readonly UsageRow[];
  readonly head: z.input<z.ZodObject<typeof usageSpan>>;
}

/** Rejects with a Problem if the span is too long. */
export async function findUsage(
  caller: Caller,
  input: UsageInput,
  page: { readonly limit: number; readonly after?: UsagePosition | undefined },
): Promise<Usage> {
  const filter: UsageFilter = {
    ...spanOf(input),
    entityId: await entityIdOf(caller, input.entity),
    repoId: await repoIdOf(caller, input.repository),
    pool: input.pool,
  };
  const { rows, total } = await readUsage(caller.db, input.by, filter, page);
  await ofKnownPool(caller, input.pool, Promise.resolve(rows));
  const summedAt = await findUsageSummedAt(caller.db);
  return {
    rows,
    head: {
      from: filter.from.toISOString(),
      to: filter.to.toISOString(),
      summedAt: summedAt?.toISOString() ?? null,
      total: toSums(total),
    },
  };
}

/** Whole hours: the sums have no smaller ones. */
function spanOf({ from, to = new Date() }: UsageInput): { from: Date; to: Date } {
  const end = new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS);
  const begin = from?.getTime() ?? end.getTime() - USUAL_DAYS * DAY_MS;
  const start = new Date(Math.floor(begin / HOUR_MS) * HOUR_MS);
  // An hour more: a span of days ago begins within one.
  if (end.getTime() - start.getTime() > LONGEST_DAYS * DAY_MS + HOUR_MS)
    throw wrong(`Ask for at most ${LONGEST_DAYS} days at a time: move \`from\` or \`to\`.`);
  return { from: start, to: end };
}

const toSums = ({ jobs, workers, podMs, idleMs, thrownAwayMs }: UsageSums) => ({
  jobs,
  workers,
  runnerMinutes: podMs / 60_000,
  idleMinutes: idleMs / 60_000,
  thrownAwayMinutes: thrownAwayMs / 60_000,
  idleShare: podMs === 0 ? null : idleMs / podMs,
  thrownAwayShare: podMs === 0 ? null : thrownAwayMs / podMs,
});

export const toUsageRow = (row: UsageRow): z.input<typeof usageRow> => ({
  entity: row.entityId === null ? null : { id: row.entityId, login: row.login },
  repository: row.repoId === null ? null : { id: row.repoId, fullName: row.repoFullName },
  workflow: row.workflow,
  pool: row.pool,
  ...toSums(row),
  queuedSeconds:
    row.queuedP50 === null || row.queuedP95 === null
      ? null
      : { p50: row.queuedP50, p95: row.queuedP95 },
});
