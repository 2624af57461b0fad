import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Stage } from '../stage/stage.ts';

/** The login of this bench's queries, so that they do not count as the services' queries. */
const ROLE = 'watcher';

export type Watcher = Awaited<ReturnType<typeof openWatcher>>;

/**
 * GitHub lets one organisation register 180 runners a minute: 5 000 jobs of eight need four
 * minutes.
 */
const LIMIT_MS = 360_000;
/**
 * Often, because the next single job waits for it. Seldom, because reading thousands of rows costs
 * more than many jobs do.
 */
const lookEveryMs = (missing: number): number => (missing > 1 ? 250 : 5);

export async function openWatcher({ postgres, environments, broken }: Stage) {
  const owner = new pg.Client({ connectionString: postgres.url() });
  await owner.connect();
  await owner.query(`create extension pg_stat_statements; create role ${ROLE} superuser login`);
  await owner.end();
  const url = new URL(postgres.url());
  url.username = ROLE;
  const client = new pg.Client({
    connectionString: url.href,
    options: `-c search_path=${environments[0]?.schema},public`,
  });
  await client.connect();
  const askCount = async (text: string): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(text);
    return rows[0]?.count ?? Number.NaN;
  };
  return {
    /** Rejects when that many jobs do not get pods in time, or a process ends meanwhile. */
    async untilPods(jobs: number): Promise<void> {
      const deadline = performance.now() + LIMIT_MS;
      for (;;) {
        const have = await Promise.race([
          askCount(
            'select count(distinct made_for_job_id)::integer as count from workers where pod_uid is not null',
          ),
          broken,
        ]);
        if (have >= jobs) return;
        if (performance.now() > deadline)
          throw new Error(`After ${LIMIT_MS / 1_000} s only ${have} of ${jobs} jobs have pods.`);
        await sleep(lookEveryMs(jobs - have));
      }
    },
    /** Names of the workers that were made for jobs, by the jobs' ids. */
    async workersOfJobs(): Promise<Map<number, string>> {
      const { rows } = await client.query<{ job: string; worker: string }>(
        'select made_for_job_id as job, pod_name as worker from workers',
      );
      return new Map(rows.map(({ job, worker }) => [Number(job), worker]));
    },
    /**
     * How many statements the services have sent since the last reset: as many as there were round
     * trips.
     */
    countStatements: () =>
      askCount(
        `select sum(calls)::integer as count from pg_stat_statements where userid <> '${ROLE}'::regrole and toplevel`,
      ),
    resetStatements: () => client.query('select pg_stat_statements_reset()'),
    close: () => client.end(),
  };
}
