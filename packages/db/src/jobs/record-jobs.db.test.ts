import { beforeEach, describe, expect, test } from '@jest/globals';
import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { emptyTables } from '@paddock/testing/empty-tables';
import type { Insertable } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { recordJobs } from './record-jobs.ts';
import { untilStored } from './store-jobs.ts';

const ORG = { id: 11, login: 'acme', type: 'Organization' } as const;
const SMALL = {
  name: 'small',
  labels: ['self-hosted', 'linux'],
  image: 'runner:1',
  namespace: 'runners',
};
const pools = {
  version: 4,
  document: poolsDocument.parse({ pools: [SMALL], entities: { acme: {}, 'id:12': {} } }),
};

const TEN_O_CLOCK = Date.now() - 2 * 3_600_000;
/** An instant by a clock that showed 10:00 two hours ago, when the job was queued. */
const at = (clock: string) =>
  new Date(TEN_O_CLOCK + Date.parse(`1970-01-01T${clock}Z`) - 10 * 3_600_000);

const queued: DeliveredStatement = {
  jobId: 900,
  status: 'pending',
  runId: 80,
  runAttempt: 1,
  jobName: 'build',
  workflowName: 'CI',
  htmlUrl: 'https://github.com/acme/api/1',
  labels: ['linux', 'self-hosted'],
  conclusion: null,
  runnerName: null,
  runnerId: null,
  queuedAt: at('10:00:00').toISOString(),
  startedAt: null,
  completedAt: null,
  entity: ORG,
  repoId: 21,
  repoFullName: 'acme/api',
  isPublic: false,
  installationId: 31,
  appId: 41,
  deliveryGuid: 'queued',
};
const running: DeliveredStatement = {
  ...queued,
  status: 'running',
  runnerName: 'pdk-aaaaaa-small-1',
  runnerId: 5,
  startedAt: at('10:00:30').toISOString(),
  deliveryGuid: 'running',
};
const completed: DeliveredStatement = {
  ...running,
  status: 'completed',
  conclusion: 'success',
  completedAt: at('10:05:00').toISOString(),
  deliveryGuid: 'completed',
};
/** A job that none of our pools serves. */
const foreign = { labels: ['ubuntu-latest'] } as const;

/** A worker that runs; its name is missing. */
const RUNNING_WORKER = {
  status: 'running',
  entity_id: 11,
  entity_name: 'acme',
  entity_type: 'Organization',
  app_id: 41,
  installation_id: 31,
  scope_repo_id: 0,
  job_labels: '["linux"]',
  k8s_pool: 'large',
  k8s_image: 'runner:9',
  pools_version: 2,
  namespace: 'runners',
  runner_id: 5,
} as const;

describe('the statement that writes jobs', () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    await emptyTables(database.db, ['jobs', 'workers', 'installations']);
  });

  const record = (...statements: DeliveredStatement[]) =>
    untilStored(() =>
      database.db.transaction().execute((trx) => recordJobs(trx, statements, pools)),
    );
  const job = async (jobId = 900) =>
    database.db.selectFrom('jobs').selectAll().where('job_id', '=', jobId).executeTakeFirst();
  const worker = async (name: string) =>
    database.db
      .selectFrom('workers')
      .selectAll()
      .where('pod_name', '=', name)
      .executeTakeFirstOrThrow();
  const addWorker = (name: string, more: Partial<Insertable<Database['workers']>> = {}) =>
    database.db
      .insertInto('workers')
      .values({ pod_name: name, ...RUNNING_WORKER, ...more })
      .execute();

  test('a queued job is a waiting row with its pool, scope and labels (A2, A6, C2)', async () => {
    await record(queued);
    expect(await job()).toMatchObject({
      status: 'pending',
      wants_worker: true,
      k8s_pool: 'small',
      k8s_image: 'runner:1',
      scope_repo_id: 0,
      pools_version: 4,
      entity_id: 11,
      repo_id: 21,
      installation_id: 31,
      app_id: 41,
      run_id: 80,
      job_labels: ['linux', 'self-hosted'],
      delivery_guid: 'queued',
      queued_at: at('10:00:00'),
      started_at: null,
      revision: 0,
    });
  });

  test('a job that Paddock failed and GitHub completed stays failed, is filled in once, and is marked as misjudged (A6)', async () => {
    await record(queued);
    await database.db.updateTable('jobs').set({ status: 'failed', wants_worker: false }).execute();
    const results = await record(completed);
    expect(results).toMatchObject([{ before: 'failed', changed: true }]);
    const filled = await job();
    expect(filled).toMatchObject({
      status: 'failed',
      misjudged: true,
      conclusion: 'success',
      runner_name: 'pdk-aaaaaa-small-1',
    });
    await record({
      ...completed,
      conclusion: 'failure',
      completedAt: at('11:00:00').toISOString(),
      runnerName: 'other',
    });
    expect(await job()).toEqual(filled);
  });

  test('in_progress binds the worker it names, whose end is explained by it, once (B7)', async () => {
    await addWorker('pdk-aaaaaa-small-1', { unexplained_until: new Date(Date.now() + 60_000) });
    await record(running);
    const bound = await worker('pdk-aaaaaa-small-1');
    expect(bound).toMatchObject({ assigned_job_id: 900, unexplained_until: null });
    expect(bound.assigned_at).not.toBeNull();
    expect(await job()).toMatchObject({ k8s_pod: 'pdk-aaaaaa-small-1', k8s_pool: 'small' });
    await record(completed);
    expect(await worker('pdk-aaaaaa-small-1')).toEqual(bound);
  });

  test('a job that fits no pool gets a row with the pool of the worker that runs it, and its end is stored too (B7)', async () => {
    await addWorker('pdk-aaaaaa-small-1', { assigned_at: at('09:59:00') });
    const results = await record({ ...running, ...foreign });
    expect(results).toMatchObject([
      { before: undefined, outcome: 'worker_bound', isMisused: false },
    ]);
    expect(await job()).toMatchObject({
      status: 'running',
      wants_worker: false,
      k8s_pool: 'large',
      k8s_image: 'runner:9',
      scope_repo_id: 0,
    });
    expect(await worker('pdk-aaaaaa-small-1')).toMatchObject({
      assigned_job_id: 900,
      assigned_at: at('09:59:00'),
    });
    await record({ ...completed, ...foreign });
    expect(await job()).toMatchObject({
      status: 'completed',
      conclusion: 'success',
      k8s_pod: 'pdk-aaaaaa-small-1',
    });
  });

  test('a worker of another entity or another repository is not bound, with any name (B7)', async () => {
    await addWorker('pdk-aaaaaa-small-1', { entity_id: 12 });
    await record(running);
    expect(await worker('pdk-aaaaaa-small-1')).toMatchObject({
      assigned_job_id: null,
      revision: 0,
    });
    await addWorker('pdk-aaaaaa-small-2', { scope_repo_id: 22 });
    await record({ ...completed, runnerName: 'pdk-aaaaaa-small-2' });
    expect(await worker('pdk-aaaaaa-small-2')).toMatchObject({
      assigned_job_id: null,
      revision: 0,
    });
    expect(await job()).toMatchObject({ k8s_pod: null });
    await addWorker('pdk-aaaaaa-small-3', { scope_repo_id: 21 });
    await record({ ...running, jobId: 901, runnerName: 'pdk-aaaaaa-small-3' });
    expect(await worker('pdk-aaaaaa-small-3')).toMatchObject({ assigned_job_id: 901 });
  });
});
