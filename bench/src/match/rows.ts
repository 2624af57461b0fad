import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { settle, withoutIndexes } from '../fill-tables.ts';

/**
 * Row `n` belongs to one of 1 000 entities, and to one of its three pools, so that all 3 000 pairs
 * occur equally often.
 */
const ENTITIES = 1_000;
const POOLS = ['small', 'large', 'gpu'] as const;
/** Numbers of waiting jobs and their workers begin here, beyond any history. */
const FIRST_ACTIVE = 100_000_000;
/** In percent: ended runners without a known job. */
const UNEXPLAINED_SHARE = 2;
/** One in this many waiting jobs has a worker in the making, and one worker runs a job. */
const WAITING_PER_WORKER = 4;

const entity = sql`(n % ${sql.lit(ENTITIES)} + 1)`;
const pool = sql`(array[${sql.join(POOLS.map((name) => sql.lit(name)))}])[n / ${sql.lit(ENTITIES)} % ${sql.lit(POOLS.length)} + 1]`;
const entityValues = sql`'github', ${entity}, 'entity-' || ${entity}, 'Organization', 1, ${entity}, jsonb_build_array('self-hosted', ${pool}), ${pool}, 'runner:1', 0, 1`;
const ENTITY_COLUMNS = sql`provider, entity_id, entity_name, entity_type, app_id, installation_id, job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version`;
const numbers = (first: number, count: number) =>
  sql`generate_series(${sql.lit(first)}::bigint, ${sql.lit(first + count - 1)}::bigint) n`;

/** The entities, their installations, and three pools, two of them with a cap. */
export async function putEntities(db: Kysely<Database>): Promise<void> {
  const caps = { small: null, large: 5_000, gpu: 500 };
  const pools = POOLS.map((name) => ({
    name,
    labels: ['self-hosted', name],
    image: 'runner:1',
    namespace: 'runners',
    maxWorkers: caps[name],
  }));
  const content = JSON.stringify({ pools, entities: { '*': { maxWorkers: 20 } } });
  await db.insertInto('pools_documents').values({ digest: 'bench', content }).execute();
  await sql`insert into installations (entity_id, app_id, installation_id, login, entity_type, stated_at)
    select n, 1, n, 'entity-' || n, 'Organization', now() from ${numbers(1, ENTITIES)}`.execute(db);
}

/** This many finished jobs and as many finished workers. */
export async function putHistory(db: Kysely<Database>, count: number): Promise<void> {
  await withoutIndexes(db, ['jobs', 'workers'], async () => {
    await insertJobs(db, {
      first: 1,
      count,
      age: 'second',
      values: sql`'completed', false, now()`,
    });
    const end = sql`now() - n * interval '1 second'`;
    const isUnexplained = sql`n % 100 < ${sql.lit(UNEXPLAINED_SHARE)}`;
    const values = sql`'completed', case when not ${isUnexplained} then ${end} end, case when ${isUnexplained} then ${end} end, ${end}, 'uid', ${end}`;
    await insertWorkers(db, { first: 1, count, age: 'second', values });
  });
  await settle(db);
}

const pendingAssigned = (assignedAt: RawBuilder<unknown>) =>
  sql`'pending', ${assignedAt}, null, null, 'uid', null`;

/**
 * This many waiting jobs, some of them with workers in the making, and some workers that run jobs.
 */
export async function putActive(db: Kysely<Database>, waiting: number): Promise<void> {
  await insertJobs(db, {
    first: FIRST_ACTIVE,
    count: waiting,
    age: 'millisecond',
    values: sql`'pending', true, null`,
  });
  const count = Math.floor(waiting / WAITING_PER_WORKER);
  await insertWorkers(db, {
    first: FIRST_ACTIVE,
    count,
    age: 'millisecond',
    values: pendingAssigned(sql`null`),
  });
  await insertWorkers(db, {
    first: 2 * FIRST_ACTIVE,
    count,
    age: 'millisecond',
    values: pendingAssigned(sql`now()`),
  });
  await settle(db);
}

/** Removes the rows of putActive. */
export async function removeActive(db: Kysely<Database>): Promise<void> {
  await sql`delete from jobs where job_id >= ${FIRST_ACTIVE}`.execute(db);
  await sql`delete from workers where made_for_job_id >= ${FIRST_ACTIVE}`.execute(db);
  await settle(db);
}

interface Rows {
  readonly first: number;
  readonly count: number;
  /** How far apart they were created. */
  readonly age: 'second' | 'millisecond';
  readonly values: RawBuilder<unknown>;
}

async function insertJobs(
  db: Kysely<Database>,
  { first, count, age, values }: Rows,
): Promise<void> {
  await sql`insert into jobs (job_id, run_id, run_attempt, job_name, repo_id, repo_full_name, created_at, ${ENTITY_COLUMNS}, status, wants_worker, completed_at)
    select n, n, 1, 'build', ${entity}, 'entity-' || ${entity} || '/api', now() - n % 1000000 * interval ${sql.lit(`1 ${age}`)}, ${entityValues}, ${values}
    from ${numbers(first, count)}`.execute(db);
}

/** Workers with pods, and so with registrations: no pass gives them back. */
async function insertWorkers(
  db: Kysely<Database>,
  { first, count, age, values }: Rows,
): Promise<void> {
  await sql`insert into workers (pod_name, made_for_job_id, namespace, created_at, ${ENTITY_COLUMNS},
      status, assigned_at, unexplained_until, completed_at, pod_uid, pod_deleted_at, registration_started_at, registered_at)
    select 'pdk-abc123-bench-' || n, n, 'runners', now() - n % 1000000 * interval ${sql.lit(`1 ${age}`)}, ${entityValues}, ${values}, now(), now()
    from ${numbers(first, count)}`.execute(db);
}
