import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { type Bench, say, medianOf, quantileOf, toHundredths, APP_ID } from '../bench.ts';
import { onStage, type Stage } from '../stage/stage.ts';
import { UNTOUCHED } from '../stage/times.ts';

export const burst: Bench<'jobs' | 'single'> = {
  about:
    'from webhook to pod: a burst of jobs of 1 and of 8 organisations, and one at a time, with calls and statements per job',
  // GitHub lets a single organisation register 180 runners a minute: more jobs only wait for that.
  numbers: { jobs: 1_000, single: 300 },
  async run({ jobs, single }) {
    const loads = [
      { organizations: 1, jobs: single },
      { organizations: 8, jobs },
    ];
    const runs: object[] = [];
    let services: object[] = [];
    for (const load of loads) {
      const measured = await measureLoad(load);
      runs.push(measured.run);
      services = measured.services;
    }
    return { tables: [runs, services] };
  },
};

/** From the webhook to the pod: `alone_…` of jobs that come one at a time. */
const measureLoad = (load: Load): Promise<{ run: object; services: object[] }> =>
  onStage(
    { durable: true, settings: { shared_preload_libraries: 'pg_stat_statements' } },
    // If the runners ran jobs, we could not know which worker was made for which job, and the
    // simulators would do most of the work.
    { times: UNTOUCHED, idleRunners: true, withoutReconciler: true },
    async (stage) => {
      const services = stage.environments.flatMap((environment) => environment.services);
      const residentMb = () => Promise.all(services.map((service) => service.residentMb()));
      const idle = await residentMb();
      const { latencies, idleLatencies, ...measured } = await measure(stage, load);
      const busy = await residentMb();
      const run = {
        ...load,
        seconds: toHundredths(measured.seconds),
        p50_ms: toHundredths(medianOf(latencies)),
        p99_ms: toHundredths(quantileOf(latencies, 0.99)),
        alone_p50_ms: toHundredths(medianOf(idleLatencies)),
        alone_p99_ms: toHundredths(quantileOf(idleLatencies, 0.99)),
        github_calls_per_job: toHundredths(measured.githubCallsPerJob),
        statements_per_job: toHundredths(measured.statementsPerJob),
        excess_workers: measured.excessWorkers,
      };
      return {
        run,
        services: services.map(({ name, readyMs }, nth) => ({
          service: name.split(' ')[0],
          ready_ms: Math.round(readyMs()),
          idle_mb: toHundredths(idle[nth]),
          busy_mb: toHundredths(busy[nth]),
        })),
      };
    },
  );

/** Until then the services' code is still being compiled. */
const WARM_UP_JOBS = 60;
/** PostgreSQL plans a statement anew the first five times on a connection. */
const WARM_UP_ALONE = 40;
const IDLE_JOBS = 40;
/** Between two jobs, so that all work for one is done when the other comes. */
const IDLE_PAUSE_MS = 100;
/** Long enough that none ends during the measurement. */
const JOB_MS = 600_000;
/** As many at a time as keep the simulated GitHub busy without a queue there. */
const AT_ONCE = 8;
/**
 * GitHub lets one organisation register 180 runners a minute: 5 000 jobs of eight need four
 * minutes.
 */
const LIMIT_MS = 360_000;

/** A job, and when the bench asked GitHub to queue it, in milliseconds since the epoch. */
interface QueuedJob {
  readonly id: number;
  readonly queuedAt: number;
}
type Queue = (count: number) => Promise<QueuedJob[]>;

/** How many jobs come at once, and of how many organisations. */
interface Load {
  readonly organizations: number;
  readonly jobs: number;
}

/**
 * Measures single jobs first, then a burst. No runner ever ends, so each job needs one worker, and
 * further workers are in excess. Latencies are milliseconds from the request to GitHub to queue a
 * job to the creation of its pod; `seconds` is from the burst's first job to its last pod.
 */
async function measure(stage: Stage, { organizations, jobs }: Load) {
  const { db } = stage.environment;
  await sql`create extension pg_stat_statements`.execute(db);
  // Another organisation has the jobs before the burst: they must not use the burst's registrations
  // of that minute.
  const before = await makeOrganizations(stage, ['before']);
  const queueTogether = await makeOrganizations(
    stage,
    Array.from({ length: organizations }, (_, index) => `org-${index}`),
  );
  let queued = 0;
  const queue = async (count: number, queueAll: Queue = before): Promise<QueuedJob[]> => {
    const batch = await queueAll(count);
    queued += count;
    await Promise.race([untilPods(db, queued), stage.broken]);
    return batch;
  };

  say('warming up');
  await queue(WARM_UP_JOBS);
  say(`${WARM_UP_ALONE} and ${IDLE_JOBS} jobs, one at a time`);
  const idle: QueuedJob[] = [];
  for (let n = 0; n < WARM_UP_ALONE + IDLE_JOBS; n++) {
    await sleep(IDLE_PAUSE_MS);
    idle.push(...(await queue(1)));
  }

  say(`${jobs} jobs of ${organizations} organisations at once`);
  await sql`/* bench */ select pg_stat_statements_reset()`.execute(db);
  const together = await queue(jobs, queueTogether);
  const statements = await countStatements(db);

  const podCreatedAt = await podsOfJobs(stage, db);
  const podOf = ({ id }: QueuedJob): number => podCreatedAt.get(id) ?? Number.NaN;
  const latencyOf = (job: QueuedJob): number => podOf(job) - job.queuedAt;
  const { calls, registrations } = await stage.github.report();
  const lastedMs =
    Math.max(...together.map(podOf)) - Math.min(...together.map(({ queuedAt }) => queuedAt));
  return {
    seconds: lastedMs / 1_000,
    latencies: together.map(latencyOf),
    idleLatencies: idle.slice(WARM_UP_ALONE).map(latencyOf),
    githubCallsPerJob: Object.values(calls).reduce((sum, count) => sum + count, 0) / queued,
    statementsPerJob: statements / jobs,
    excessWorkers: registrations - queued,
  };
}

/** Organisations take equal turns to queue jobs. GitHub bounds the registrations of each. */
async function makeOrganizations(
  { github, environment }: Stage,
  logins: readonly string[],
): Promise<Queue> {
  for (const login of logins) {
    await github.addOrganization({ login });
    await github.addRepository({ owner: login, name: 'shop', private: true });
    await github.install({ appId: APP_ID, account: login });
  }
  await github.settled();
  let turn = 0;
  const queueOne = async (): Promise<QueuedJob> => {
    const repo = `${logins[turn++ % logins.length]}/shop`;
    const { labels } = environment;
    const queuedAt = performance.timeOrigin + performance.now();
    const { id } = await github.queueJob({ repo, labels, durationMs: JOB_MS });
    return { id, queuedAt };
  };
  return async (count) => {
    const queued: QueuedJob[] = [];
    while (queued.length < count) {
      const length = Math.min(AT_ONCE, count - queued.length);
      queued.push(...(await Promise.all(Array.from({ length }, queueOne))));
    }
    return queued;
  };
}

/** Rejects when that many jobs do not get pods in time. */
async function untilPods(db: Db, jobs: number): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const { rows } = await sql<{ have: number }>`
      /* bench */ select count(distinct made_for_job_id)::integer as have from workers where pod_uid is not null`.execute(
      db,
    );
    const have = rows[0]?.have ?? 0;
    if (have >= jobs) return;
    if (performance.now() > deadline)
      throw new Error(`After ${LIMIT_MS / 1_000} s only ${have} of ${jobs} jobs have pods.`);
    // Soon, because the next single job waits for it. Seldom, because each look takes from the
    // services' time, and reading thousands of rows costs more than many jobs do.
    await sleep(jobs - have > 1 ? 250 : 25);
  }
}

/** How many statements the services have sent, as many as there were round trips. */
async function countStatements(db: Db): Promise<number> {
  const { rows } = await sql<{ calls: number }>`
    select sum(calls)::integer as calls from pg_stat_statements where query !~ '/\\* bench \\*/' and toplevel`.execute(
    db,
  );
  return rows[0]?.calls ?? Number.NaN;
}

/**
 * When the pod was created, by the id of the job it was made for. The cluster's own record has
 * milliseconds, unlike a pod's timestamp.
 */
async function podsOfJobs({ cluster }: Stage, db: Db): Promise<Map<number | null, number>> {
  const { creations } = await cluster.report();
  const createdAt = new Map(creations.map((pod) => [pod.name, Date.parse(pod.createdAt)]));
  const workers = await db.selectFrom('workers').select(['made_for_job_id', 'pod_name']).execute();
  return new Map(
    workers.map((worker) => [worker.made_for_job_id, createdAt.get(worker.pod_name) ?? Number.NaN]),
  );
}
