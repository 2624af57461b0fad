import { Agent, request } from 'node:http';
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

export async function openWatcher({ postgres, environments, clusterUrl, broken }: Stage) {
  const agent = new Agent({ keepAlive: true });
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
  await client.query('create table public.commits (at timestamptz not null)');
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
    /**
     * The milliseconds of the parts that every pod needs, one after the other and each as cheap as
     * possible: the commits of the delivery and of the reservation, and three calls over the
     * loopback, for the registration, the Secret and the pod.
     */
    async timeParts(): Promise<number> {
      const begun = performance.now();
      for (let commits = 0; commits < 2; commits++)
        await client.query('insert into public.commits values (now())');
      for (let calls = 0; calls < 3; calls++) await callOnce(agent, `${clusterUrl}/readyz`);
      return performance.now() - begun;
    },
    async close(): Promise<void> {
      agent.destroy();
      await client.end();
    },
  };
}

function callOnce(agent: Agent, url: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request(url, { agent }, (answer) => answer.on('end', resolve).on('error', reject).resume())
    .on('error', reject)
    .end();
  return promise;
}
