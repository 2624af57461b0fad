import pg from 'pg';
import { APP_ID } from '../programs.ts';
import { entityOfJobs, jobsOf, POOL, workerOf } from './deliveries.ts';
import type { Load } from './load-thread.ts';
import type { Place } from './services.ts';

/** Reads the tables that the contenders write. */
export interface Rows {
  /**
   * How many rows are missing or wrong. Each job must have one row, which has completed if all its
   * deliveries were accepted, and each delivery must have one row.
   */
  countMissing(acceptedJobIds: readonly number[]): Promise<number>;
  /**
   * Removes the written rows, so that every measurement begins with the same tables, and adds the
   * workers that will run the jobs.
   */
  prepare(load: Pick<Load, 'firstJobId' | 'count'>): Promise<void>;
  close(): Promise<void>;
}

export function openRows({ url, schema }: Place): Rows {
  const pool = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}`, max: 1 });
  return {
    async countMissing(acceptedJobIds) {
      const { rows } = await pool.query<{ missing: number }>(
        `with accepted as (select job_id, count(*) as deliveries from unnest($1::bigint[]) as accepted(job_id) group by job_id),
         stored as (select job_id, count(*) as deliveries from installation_events group by job_id)
         select coalesce(sum(
           case when j.job_id is null or (a.deliveries = 3 and j.status <> 'completed') then 1 else 0 end
           + greatest(0, a.deliveries - coalesce(s.deliveries, 0))), 0)::integer as missing
         from accepted a left join jobs j using (job_id) left join stored s using (job_id)`,
        [acceptedJobIds],
      );
      return rows[0]?.missing ?? Number.NaN;
    },
    async prepare({ firstJobId, count }) {
      await pool.query('truncate jobs, installation_events, workers');
      const { id, login, type } = entityOfJobs();
      await pool.query(
        `insert into workers (pod_name, status, entity_id, entity_name, entity_type, app_id, installation_id, scope_repo_id, job_labels, k8s_pool,
           k8s_image, pools_version, namespace, pod_uid, running_at, runner_id)
         select $1 || n, 'running', $2, $3, $4, $5, 31, 0, $6, $7, $8, 1, 'runners', n, now(), n from generate_series($9::bigint, $10::bigint) n`,
        [
          workerOf(''),
          id,
          login,
          type,
          APP_ID,
          JSON.stringify(POOL.labels),
          POOL.name,
          POOL.image,
          firstJobId,
          firstJobId + jobsOf(count) - 1,
        ],
      );
    },
    close: () => pool.end(),
  };
}
