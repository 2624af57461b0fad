import { putJob } from '@paddock/testing/demand-rows';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** Fixes PostgreSQL's statistics at the present rows, for all later statements. */
export async function keepStatistics(
  db: Kysely<Database>,
  tables: readonly (keyof Database)[],
): Promise<void> {
  for (const table of tables) {
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(db);
    await sql`vacuum analyze ${sql.table(table)}`.execute(db);
  }
}

/** The common columns of jobs and workers. */
const COLUMNS = sql`entity_type, app_id, installation_id, job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version`;

/**
 * Waiting jobs, spread evenly over the entities. Returns the id of the job before the first of
 * them.
 */
export async function fillJobs(
  db: Kysely<Database>,
  jobs: number,
  entities: number,
): Promise<number> {
  const { job_id: model } = await putJob(db);
  await sql`insert into jobs (job_id, wants_worker, entity_id, entity_name, repo_id, repo_full_name, run_id, run_attempt, job_name, ${COLUMNS})
    select n, true, n % ${entities}::integer + 1, 'entity', repo_id, repo_full_name, n, 1, job_name, ${COLUMNS}
    from jobs, generate_series(1, ${jobs}::integer) n where job_id = ${model}`.execute(db);
  return model;
}

/**
 * Workers for the same entities; `more` has further columns by name, with their values as functions
 * of `n`, which counts from 1.
 */
export async function fillWorkers(
  db: Kysely<Database>,
  model: number,
  {
    workers,
    entities,
    more,
  }: { workers: number; entities: number; more: Readonly<Record<string, RawBuilder<unknown>>> },
): Promise<void> {
  const names = sql.join(Object.keys(more).map((name) => sql.ref(name)));
  await sql`insert into workers (pod_name, entity_id, entity_name, namespace, ${names}, ${COLUMNS})
    select 'pdk-abc123-kept-' || n, n % ${entities}::integer + 1, 'entity', 'runners', ${sql.join(Object.values(more))}, ${COLUMNS}
    from jobs, generate_series(1, ${workers}::integer) n where job_id = ${model}`.execute(db);
}
