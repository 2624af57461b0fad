import { type RawBuilder, sql } from 'kysely';
import { numbers } from '../growth/year-columns.ts';

/** How large the year is. */
export interface ConsoleSizes {
  /** Ended jobs, and as many ended workers. */
  readonly history: number;
  readonly events: number;
  readonly operations: number;
  readonly entities: number;
}

/** Of the largest entity; that of rank N has the Nth part of them. */
const MOST_REPOSITORIES = 1_500;
const MOST_WORKFLOWS = 60;
const JOBS_OF_RUN = 4;
/** A repository's id is its entity's times this, and its number in the entity. */
export const REPOSITORIES_APART = 10_000;

/** From 0 to 1, for a row by its number: the same in every run. Each salt gives another one. */
export const random = (salt: number, number = 'n'): RawBuilder<number> =>
  sql`((hashint8extended(${sql.ref(number)}, ${sql.lit(salt)}) & 1048575)::float8 / 1048576)`;

/** How many seconds something takes that is mostly short, and sometimes very long. */
const longTail = (usual: number, salt: number) =>
  sql`${sql.lit(usual)} * power(-ln(1 - ${random(salt)}), 2)`;

/**
 * The rows `n` of a year: whose it is (`e`, `login`), in which repository, workflow and pool, when
 * (`at`), and what became of a job: `queued` and `ran` in seconds, `result` from 0 to 1. A third of
 * all are of the first entity, and a tenth of these of its first repository. Four jobs make a run.
 * Most rows of a day come around one hour. The last ones have ended by now.
 */
export const skewedYear = (
  count: number,
  entities: number,
  shown: RawBuilder<unknown> = numbers(1, count),
): RawBuilder<unknown> => sql`(
  select n, run, e, 'entity-' || e as login, e % 5 = 0 as is_user, case when e % 5 = 0 then r else 0 end as scope, r, w,
    'entity-' || e || '/repository-' || r % ${sql.lit(REPOSITORIES_APART)} as full_name, 'pool-' || p as pool,
    (array['CI', 'Lint', 'Nightly', 'Deploy'])[w % 4 + 1] || case when w < 4 then '' else ' ' || w end as workflow,
    now() - interval '365 days' + (day + hour + 0.8 * sin(2 * pi() * hour) / (2 * pi())) * interval '23 hours 58 minutes' as at,
    ${longTail(8, 4)} as queued, least(20000, 15 + ${longTail(150, 5)}) as ran, ${random(6)} as result
  from (
    select n, run, e, e * ${sql.lit(REPOSITORIES_APART)} + floor(ceil(${sql.lit(MOST_REPOSITORIES)}::float8 / e) * power(${random(2, 'run')}, 3))::bigint as r,
      floor(least(${sql.lit(MOST_WORKFLOWS)}, 3 + ceil(${sql.lit(MOST_WORKFLOWS)}::float8 / e)) * power(${random(7, 'run')}, 3))::integer as w,
      (e * 7 + floor(4 * power(${random(3, 'run')}, 2))::bigint) % 20 as p, floor(days) as day, days - floor(days) as hour
    from (
      select n, run, 1 + floor(${sql.lit(entities)} * power(${random(1, 'run')}, 5))::bigint as e, n * 365.0::float8 / ${sql.lit(count)} as days
      from (select n, n / ${sql.lit(JOBS_OF_RUN)} as run from ${shown}) numbered) timed) placed) year`;
