import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { findInstance } from '@paddock/db/instance';
import { callText } from '@paddock/kube/call';
import { connectCluster } from '@paddock/kube/connect';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { sweepTask } from '@paddock/queue/sweep-schedules';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { APP_ID, NAMESPACE, type TestSystem } from '../start-system.ts';

/** What makes these faults take seconds. */
export const RULES = {
  db: { poolsRefreshMs: 500, surplusAfterMs: 500, lateAfterSeconds: 1 },
  scheduler: { stopIdleApartMs: 1_000, stopLastLookMs: 1_000, stopRetryMs: 1_000 },
  reconciler: {
    lookUpJobsEverySeconds: 1,
    discoverJobsEverySeconds: 1,
    discoverRepositoryEveryMs: 500,
    stuckAfterMs: 2_000,
    recoveryLimit: 1,
    heldLookUpFirstMs: 1_000,
    heldLookUpLongestMs: 2_000,
    secondLookMs: 1_000,
    lookUpRetryMs: 1_000,
    stopAlertMs: 1_000,
  },
};

type Act = (system: TestSystem) => Promise<unknown>;

/**
 * A series of some service that is not 0 while the fault stands, how long it has to stand until its alert
 * fires (a second is a minute there), how it begins, and how people mend it; absent: it is over.
 */
type State = readonly [shows: string, seconds: number, begin: Act, end?: Act];

const ALL = 1_000_000;
/** Runs statements without our triggers. */
const write =
  (statements: string): Act =>
  ({ database: { db } }) =>
    sql
      .raw(`begin; set local session_replication_role = replica; ${statements}; commit`)
      .execute(db);
const until = ({ database: { db } }: TestSystem, rows: string) =>
  waitFor(
    rows,
    async () => (await sql.raw(`select from ${rows} limit 1`).execute(db)).rows.length > 0,
  );
/** After that change a sweep notices it. */
const swept =
  (kind: string, change: Act): Act =>
  async (system) => {
    await change(system);
    await enqueueAlone(system.database.db, [sweepTask(kind)]);
  };
const setEvents = (...events: string[]) =>
  swept('check-apps', ({ github }) => github.setApp(APP_ID, { events }));
const run = async (system: TestSystem, durationMs = 100): Promise<void> =>
  system.untilJobs(await system.queueJobs(1, { durationMs }), 'completed');
const hide = ({ github }: TestSystem, path: string, status: number) =>
  github.failNext({ path: `^/repos/acme/shop/actions/${path}`, status, times: ALL });
const installationOf = async ({ database: { db } }: TestSystem, login: string): Promise<number> => {
  const { rows } = await sql<{ id: number }>`
    select installation_id as id from installations where login = ${login}`.execute(db);
  return rows[0]?.id ?? 0;
};
const forget: Act = async ({ github, cluster }) => {
  cluster.clearFaults();
  cluster.setRunnerFaults({});
  await github.clearFaults();
};
/** Somebody else makes or deletes a pod. The scheduler then lists its pods anew. */
const callForPods = async ({ cluster }: TestSystem, method: 'POST' | 'DELETE', pod: object) => {
  const given = { kubeconfigFile: cluster.writeKubeconfig(), requestTimeoutMs: 9_000 };
  const connection = connectCluster(given);
  const path = `/api/v1/namespaces/${NAMESPACE}/pods${method === 'POST' ? '' : '/copy'}`;
  await callText(connection, { method, path, body: pod });
  connection.close();
  cluster.compact();
  cluster.cutWatches();
};
const NEWEST = '2.337.0';
/** GitHub is asked once a day. */
const askForVersion = (endsAt: string | null) =>
  swept('check-runner-versions', async (system) => {
    await system.github.setRunnerVersion(NEWEST, endsAt);
    await run(system);
    await write("update pool_runner_versions set asked_at = now() - interval '2 days'")(system);
  });
const renumber = (to: string) =>
  write(`update schema_migration set name = '${to}' || substr(name, 5)`);

export const STATES: Readonly<Record<string, State>> = {
  // First, so that its counts begin with it.
  'slow-pods': [
    'paddock_worker_to_running_seconds_bucket{le="5",pool="linux"}',
    0,
    async (system) => {
      system.startDelayMs.splice(0, 2, 3_500, 4_500);
      for (let job = 0; job < 3; job += 1) await run(system, 4_000);
      system.startDelayMs.splice(0, 2, 5, 30);
    },
  ],
  'app-unfit': ['paddock_app_problems{app="4711"}', 12, setEvents(), setEvents('workflow_job')],
  'file-refused': [
    'paddock_pools_file_refused',
    7,
    ({ config }) => writeFile(config, 'pools: none'),
    ({ configure }) => configure(),
  ],
  'rows-lost': [
    'paddock_events_total{event="deliveredWithoutRow"}',
    0,
    async (system) => {
      await run(system);
      await write("delete from installation_events where event like 'workflow_job%'")(system);
    },
  ],
  'runner-version-ends': [
    `paddock_runner_version_days_left{pool="linux",version="${NEWEST}"}`,
    62,
    askForVersion(new Date(Date.now() + 20 * 86_400_000).toISOString()),
    askForVersion(null),
  ],
  'sweep-forgotten': [
    'paddock_sweep_overdue{schedule="upkeep"}',
    12,
    write(`insert into switches (subject_type, subject_id, switched_by, since) values ('sweep', 'upkeep', 'ada', now() - interval '4 days');
      update schedules set succeeded_at = now() - interval '4 days' where name = 'upkeep'`),
    swept('upkeep', write('delete from switches')),
  ],
  'strange-pod': [
    'paddock_pods_without_row{namespace="runners"}',
    62,
    async (system) => {
      const labels = { 'paddock.dev/instance': await findInstance(system.database.db) };
      const spec = { containers: [{ name: 'runner', image: 'runner:1' }] };
      await callForPods(system, 'POST', { metadata: { name: 'copy', labels }, spec });
    },
    (system) => callForPods(system, 'DELETE', {}),
  ],
  // Its job is cancelled before it connects to GitHub.
  'deletion-refused': [
    'paddock_worker_stops_held_up',
    7,
    async (system) => {
      system.cluster.failNext({ method: 'DELETE', path: '/pods/', status: 403, times: ALL });
      system.cluster.setRunnerFaults({ silentRate: 1 });
      const [job = 0] = await system.queueJobs(1);
      await until(system, "workers where status = 'running'");
      await system.github.cancelJob(job);
    },
    forget,
  ],
  'group-refuses': [
    'paddock_oldest_waiting_job_has_idle_worker{pool="deploy"}',
    17,
    async (system) => {
      const workflows = ['acme/shop/.github/workflows/review.yml@main'];
      await system.github.setRunnerGroup({ org: 'acme', name: 'deploy', workflows });
      await system.queueJobs(1, { labels: ['deploy'] });
    },
    async ({ github }) => {
      const { jobs } = await github.truth();
      for (const { id, status } of jobs) if (status === 'queued') await github.cancelJob(id);
    },
  ],
  'budget-used-up': [
    'paddock_jobs_waiting{pool="linux",reason="github_budget"}',
    17,
    async (system) => {
      const caller = { installationId: await installationOf(system, 'acme') };
      const budget = { resource: 'actions_runner_registration', remaining: 1 } as const;
      await system.github.setRateLimit({ caller, ...budget, resetInMs: 25_000 });
      await run(system);
      await system.queueJobs(1, { durationMs: 100 });
    },
    () => Promise.resolve('GitHub’s hour ends'),
  ],
  'job-stuck': [
    'paddock_jobs_stuck',
    17,
    async (system) => {
      await system.github.setDeliveryFaults({ omitActions: ['completed'] });
      const jobs = await system.queueJobs(1, { durationMs: 1_500 });
      await system.untilJobs(jobs, 'running');
      await hide(system, '(jobs|runs)', 502);
    },
    forget,
  ],
  'job-hidden': [
    'paddock_jobs_misjudged',
    2,
    async (system) => {
      await write("insert into switches values ('pool', 'linux', 'ada')")(system);
      await hide(system, '(jobs|runs)/', 404);
      await system.queueJobs(1, { durationMs: 100 });
      await until(system, "jobs where status = 'failed'");
      await forget(system);
    },
    async (system) => {
      await write('delete from switches')(system);
      await until(system, "jobs where misjudged and status = 'completed'");
      await write("update jobs set updated_at = now() - interval '2 days'")(system);
    },
  ],
  'table-locked': [
    'paddock_delivery_batch_seconds_bucket{le="2.5"}',
    0,
    async (system) => {
      for (let delivery = 0; delivery < 9; delivery += 1) {
        await system.database.db.transaction().execute(async (trx) => {
          await sql`lock table installation_events in share row exclusive mode`.execute(trx);
          await system.queueJobs(1, { labels: ['nobody'] });
          await sleep(1_500);
        });
        await sleep(1_000);
      }
    },
  ],
  'schema-of-yesterday': ['paddock_migration_needed', 12, renumber('0000'), renumber('0001')],
  'installation-unlisted': [
    'paddock_events_total{event="tooManyUnlisted"}',
    0,
    swept('check-apps', async (system) => {
      await system.github.setDeliveryFaults({ omitActions: ['deleted'] });
      await system.github.uninstall(await installationOf(system, 'mona'));
    }),
    swept('check-apps', async (system) => {
      const again = { id: await installationOf(system, 'mona'), account: 'mona' };
      await system.github.install({ appId: APP_ID, ...again, announce: false });
    }),
  ],
};
