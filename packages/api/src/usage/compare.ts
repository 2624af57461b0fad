import { allOf, has } from '@paddock/db/newest-first';
import type { Db } from '@paddock/db/schema/tables';
import { NOT_SERVED } from '@paddock/domain/pools/place-job';
import { sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { entity, entityIdOf } from '../lists/named.ts';
import { wrong } from '../problem.ts';

/** More would be a list to look through. */
const MOST = 200;
/** Hours of two days, or days of a month, the first and the last in part. */
const MOST_TIMES = 50;
/** A longer span would read more rows than an answer has time for; those of one entity are fewer. */
const LONGEST_DAYS = 7;
const LONGEST_OF_ENTITY_DAYS = 31;
const UNIT_MS = { d: 86_400_000, h: 3_600_000 } as const;
const SPAN = /^(\d{1,3})([dh])$/;

const since = z
  .string()
  .max(10)
  .default('7d')
  .describe(
    `How far back jobs were queued, as 7d or 24h; at most ${LONGEST_DAYS} days, of one entity ${LONGEST_OF_ENTITY_DAYS}`,
  )
  .transform((text, context): number => {
    const [, count = '', unit = 'd'] = SPAN.exec(text) ?? [];
    const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
    if (ms > 0 && ms <= LONGEST_OF_ENTITY_DAYS * UNIT_MS.d) return ms;
    const message = `must be a span such as 7d or 24h, of at most ${LONGEST_OF_ENTITY_DAYS} days`;
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
  async answer(caller, input) {
    if (input.entity === undefined && input.since > LONGEST_DAYS * UNIT_MS.d)
      throw wrong(`Ask for at most ${LONGEST_DAYS} days, or for one entity.`);
    return compareRunners(caller.db, input.since, await entityIdOf(caller, input.entity));
  },
});

const sideWhere = (isOurs: boolean) => {
  const those = sql.raw(isOurs ? 'is_ours' : 'not is_ours');
  const sum = (what: string) =>
    sql`coalesce(sum(${sql.raw(what)}) filter (where ${those}), 0)::integer`;
  const quantile = (share: number) =>
    sql`min(seconds) filter (where ${those} and upto >= ${sql.lit(share)} * of)`;
  return sql`jsonb_build_object('jobs', ${sum('jobs')}, 'failed', ${sum('failed')}, 'p50', ${quantile(0.5)}, 'p95', ${quantile(0.95)})`;
};

/** SQL: the end of a job that no pool serves, in the words of the index of these. */
const IS_UNSERVED_END = sql`event = 'workflow_job.completed' and outcome in (${sql.join(NOT_SERVED.map((outcome) => sql.lit(outcome)))})`;

/** SQL: an instant in a stored body, null in another form than GitHub's: a cast would end all answers. */
const instantOf = (field: string) =>
  sql`(jsonb_path_query_first(job, ${sql.lit(`$.${field}.datetime("YYYY-MM-DD\\"T\\"HH24:MI:SS\\"Z\\"")`)}, '{}', true) #>> '{}')::timestamp at time zone 'UTC'`;

type Row = z.output<typeof output>['items'][number] & z.output<typeof output>['times'][number];

/**
 * Served jobs have rows. Of others only deliveries tell, in small bodies; some came twice. Counts how
 * often each waiting time occurs: to sort all jobs is slower.
 */
async function compareRunners(
  db: Db,
  sinceMs: number,
  entityId: number | undefined,
): Promise<z.output<typeof output>> {
  const from = new Date(Date.now() - sinceMs);
  const step = sinceMs > 2 * UNIT_MS.d ? 'day' : 'hour';
  const isOfEntity = allOf(has('entity_id', entityId));
  const { rows } = await sql<{
    [K in keyof Row]: Row[K] | (K extends 'at' | 'labels' ? null : never);
  }>`
    with ran as (
      select job_labels as labels, coalesce(runner_name = k8s_pod, false) as is_ours, conclusion, started_at, coalesce(queued_at, created_at) as queued_at
      from jobs where status in ('completed', 'failed') and created_at >= ${from} and runner_name <> '' and ${isOfEntity}
      union all
      select coalesce(nullif(job -> 'labels', 'null'), '[]'), exists (select from workers w where w.pod_name = job ->> 'runner_name' and w.entity_id = heard.entity_id),
        job ->> 'conclusion', ${instantOf('started_at')}, ${instantOf('created_at')}
      from (
        select distinct on (job_id) entity_id, payload -> 'workflow_job' as job from installation_events
        where ${IS_UNSERVED_END} and received_at >= ${from} and source = 'webhook' and ${isOfEntity} order by job_id, id
      ) heard
      where job ->> 'runner_name' <> ''
    ), counted as materialized (
      select labels, is_ours, date_trunc(${step}, started_at, 'UTC') as at, greatest(0, extract(epoch from started_at - queued_at))::integer as seconds,
        count(*) as jobs, count(*) filter (where conclusion in ('failure', 'timed_out')) as failed
      from ran where conclusion is not null and queued_at >= ${from} and started_at between ${from} and now() + interval '1 day'
      group by 1, 2, 3, 4
    ), named as (
      select labels, (select coalesce(jsonb_agg(label order by label), '[]') from jsonb_array_elements_text(lower(labels::text)::jsonb) label) as name
      from counted group by labels
    ), ranked as (
      select key.*, is_ours, seconds, sum(jobs) as jobs, sum(failed) as failed,
        sum(sum(jobs)) over (partition by key.labels, key.at, is_ours order by seconds) as upto,
        sum(sum(jobs)) over (partition by key.labels, key.at, is_ours) as of
      from counted join named using (labels) cross join lateral (values (name, null), (null, at)) key(labels, at)
      group by 1, 2, 3, 4
    )
    select labels, at, ${sideWhere(true)} as ours, ${sideWhere(false)} as others
    from ranked group by labels, at order by at, sum(jobs) desc, labels limit ${MOST + MOST_TIMES}`.execute(
    db,
  );
  return {
    items: rows
      .flatMap(({ labels, ours, others }) => (labels === null ? [] : { labels, ours, others }))
      .slice(0, MOST),
    times: rows.flatMap(({ at, ours, others }) => (at === null ? [] : { at, ours, others })),
  };
}
