import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SCHEMA, type System } from './system.ts';

/** The login of this bench's queries, so that they do not count as the services' queries. */
const ROLE = 'watcher';

export interface Watcher {
  /**
   * Waits until that many jobs have pods. Rejects when they do not get them in time, or a process
   * ends meanwhile.
   */
  untilPods(jobs: number): Promise<void>;
  /** Names of the workers that were made for jobs, by the jobs' ids. */
  workersOfJobs(): Promise<Map<number, string>>;
  /**
   * How many statements the services have sent since the last reset: as many as there were round
   * trips.
   */
  countStatements(): Promise<number>;
  resetStatements(): Promise<void>;
  /** Writes one small row, durably. */
  commit(): Promise<void>;
  close(): Promise<void>;
}

const JOBS_WITH_PODS =
  'select count(distinct made_for_job_id)::integer as count from workers where pod_uid is not null';

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

export async function openWatcher({ postgres, broken }: System): Promise<Watcher> {
  const owner = new pg.Client({ connectionString: postgres.url() });
  await owner.connect();
  await owner.query(`create extension pg_stat_statements; create role ${ROLE} superuser login`);
  await owner.end();
  const url = new URL(postgres.url());
  url.username = ROLE;
  const client = new pg.Client({
    connectionString: url.href,
    options: `-c search_path=${SCHEMA},public`,
  });
  await client.connect();
  await client.query('create table public.commits (at timestamptz not null)');
  const askCount = async (text: string): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(text);
    return rows[0]?.count ?? Number.NaN;
  };
  return {
    async untilPods(jobs) {
      const deadline = performance.now() + LIMIT_MS;
      for (;;) {
        const have = await Promise.race([askCount(JOBS_WITH_PODS), broken]);
        if (have >= jobs) return;
        if (performance.now() > deadline)
          throw new Error(`After ${LIMIT_MS / 1_000} s only ${have} of ${jobs} jobs have pods.`);
        await sleep(lookEveryMs(jobs - have));
      }
    },
    async workersOfJobs() {
      const { rows } = await client.query<{ job: string; worker: string }>(
        'select made_for_job_id as job, pod_name as worker from workers',
      );
      return new Map(rows.map(({ job, worker }) => [Number(job), worker]));
    },
    countStatements: () =>
      askCount(
        `select sum(calls)::integer as count from pg_stat_statements where userid <> '${ROLE}'::regrole and toplevel`,
      ),
    resetStatements: async () => void (await client.query('select pg_stat_statements_reset()')),
    commit: async () => void (await client.query('insert into public.commits values (now())')),
    close: () => client.end(),
  };
}
