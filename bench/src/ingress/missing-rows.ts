import pg from 'pg';
import type { Place } from './services.ts';

/** Looks into the tables that the contenders write to. */
export interface Rows {
  /** How many of the rows of these jobs are not there: each has one of its own, and its delivery another. */
  countMissing(jobIds: readonly number[]): Promise<number>;
  /** Removes what was written, so that every measurement begins with empty tables. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export function openRows({ url, schema }: Place): Rows {
  const pool = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}`, max: 1 });
  return {
    async countMissing(jobIds) {
      const { rows } = await pool.query<{ missing: number }>(
        `select (count(*) filter (where j.job_id is null) + count(*) filter (where e.job_id is null))::integer as missing
         from unnest($1::bigint[]) as accepted(job_id) left join jobs j using (job_id)
         left join (select distinct job_id from installation_events) e using (job_id)`,
        [jobIds],
      );
      return rows[0]?.missing ?? Number.NaN;
    },
    clear: async () => void (await pool.query('truncate jobs, installation_events')),
    close: () => pool.end(),
  };
}
