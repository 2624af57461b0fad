import { allOf, has } from '@paddock/db/newest-first';
import type { Db } from '@paddock/db/schema/tables';
import { NOT_SERVED } from '@paddock/domain/pools/place-job';
import { sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { entity, entityIdOf } from '../lists/named.ts';

/** More would be a list to look through. */
const MOST = 200;
/** Hours of two days, or days of a month, the first and the last in part. */
const MOST_TIMES = 50;
/** A longer span would read more rows than an answer has time for. */
const LONGEST_DAYS = 31;
const UNIT_MS = { d: 86_400_000, h: 3_600_000 } as const;
const SPAN = /^(\d{1,3})([dh])$/;

const since = z
  .string()
  .max(10)
  .default('7d')
  .describe(`How far back jobs were queued, as 7d or 24h; at most ${LONGEST_DAYS} days`)
  .transform((text, context): number => {
    const [, count = '', unit = 'd'] = SPAN.exec(text) ?? [];
    const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
    if (ms > 0 && ms <= LONGEST_DAYS * UNIT_MS.d) return ms;
    const message = `must be a span such as 7d or 24h, of at most ${LONGEST_DAYS} days`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const seconds = z.int().nullable().describe('From queued to started; null: no job ran there');

const side = z.object({
  jobs: z.int().describe('That have ended, and had started'),
  failed: z.int().describe('Those of them that failed or timed out'),
  p50: seconds,
  p95: seconds,
});

const sides = {
  ours: side.describe('On workers of Paddock'),
  others: side.describe('On all other runners, also those of GitHub'),
};

const output = z.object({
  items: z.array(
    z.object({
      labels: z.array(z.string()).describe('As the jobs asked for, in small letters'),
      ...sides,
    }),
  ),
  times: z
    .array(z.object({ at: instant, ...sides }))
    .describe('All labels together, by the hour when jobs started; by the day of a span above two'),
});

export const compareRunnersEndpoint = endpoint({
  name: 'compareRunners',
  path: '/api/v1/compare',
  summary: `Compares how long jobs waited and how many failed, on our workers and on other runners, by the labels that they asked for, the most jobs first: at most ${MOST} rows. Also of jobs that no pool serves, from the stored deliveries.`,
  input: z.object({ since, entity }),
  output,
  answer: async (caller, input) =>
    compareRunners(caller.db, input.since, await entityIdOf(caller, input.entity)),
});

const sideWhere = (isOurs: boolean) => {
  const those = sql`filter (where is_ours = ${sql.lit(isOurs)})`;
  const quantile = (share: number) =>
    sql`(percentile_disc(${sql.lit(share)}) within group (order by seconds) ${those})::integer`;
  return sql`jsonb_build_object('jobs', count(*) ${those}, 'failed', count(*) filter (where is_ours = ${sql.lit(isOurs)} and failed),
    'p50', ${quantile(0.5)}, 'p95', ${quantile(0.95)})`;
};

type Row = z.output<typeof output>['items'][number] & z.output<typeof output>['times'][number];

/** Served jobs have rows. Of others only deliveries tell, in small bodies; some came twice. */
async function compareRunners(
  db: Db,
  sinceMs: number,
  entityId: number | undefined,
): Promise<z.output<typeof output>> {
  const from = new Date(Date.now() - sinceMs);
  const step = sinceMs > 2 * UNIT_MS.d ? 'day' : 'hour';
  const { rows } = await sql<{
    [K in keyof Row]: Row[K] | (K extends 'at' | 'labels' ? null : never);
  }>`
    with ended as (
      select entity_id, job_labels as labels, runner_name, conclusion, started_at, coalesce(queued_at, created_at) as queued_at
      from jobs where status in ('completed', 'failed') and created_at >= ${from} and ${allOf(has('entity_id', entityId))}
      union all
      (select distinct on (job_id) entity_id, job -> 'labels', job ->> 'runner_name', job ->> 'conclusion', (job ->> 'started_at')::timestamptz,
        (job ->> 'created_at')::timestamptz
      from (select distinct entity_id from installations where ${allOf(has('entity_id', entityId))}) entities
      cross join lateral (
        select job_id, id, payload -> 'workflow_job' as job from installation_events e
        where e.entity_id = entities.entity_id and received_at >= ${from} and source = 'webhook' and event = 'workflow_job.completed'
          and outcome = any(${NOT_SERVED})
      ) delivered
      order by job_id, id)
    ), ran as (
      select (select coalesce(jsonb_agg(label order by label), '[]') from jsonb_array_elements_text(lower(labels::text)::jsonb) label) as labels,
        exists (select from workers w where w.pod_name = runner_name and w.entity_id = ended.entity_id) as is_ours,
        conclusion in ('failure', 'timed_out') as failed, date_trunc(${step}, started_at, 'UTC') as at,
        greatest(0, extract(epoch from started_at - queued_at)) as seconds
      from ended where runner_name <> '' and conclusion is not null and started_at is not null and queued_at >= ${from}
    )
    select labels, at, ${sideWhere(true)} as ours, ${sideWhere(false)} as others
    from ran group by grouping sets ((labels), (at))
    order by at, count(*) desc, labels limit ${MOST + MOST_TIMES}`.execute(db);
  return {
    items: rows
      .flatMap(({ labels, ours, others }) => (labels === null ? [] : { labels, ours, others }))
      .slice(0, MOST),
    times: rows.flatMap(({ at, ours, others }) => (at === null ? [] : { at, ours, others })),
  };
}
