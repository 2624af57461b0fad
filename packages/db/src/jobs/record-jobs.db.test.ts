import { beforeEach, describe, expect, test } from '@jest/globals';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/demand-rows';
import { type DeliveryToRecord, recordDeliveries } from '../deliveries/record-deliveries.ts';
import { ofJob, pools } from '@paddock/testing/deliveries-to-record';

const database = useTestDatabase();
beforeEach(() => emptyAll(database.db));

const record = (...batch: DeliveryToRecord[]) => recordDeliveries(database.db, batch, pools);
const job = () => database.db.selectFrom('jobs').selectAll().executeTakeFirst();
const worker = (name: string) =>
  database.db.selectFrom('workers').selectAll().where('pod_name', '=', name).executeTakeFirst();
const addWorker = (name: string, more: Parameters<typeof putWorker>[1] = {}) =>
  putWorker(database.db, {
    pod_name: name,
    status: 'running',
    entity_id: 11,
    k8s_pool: 'large',
    k8s_image: 'runner:9',
    runner_id: 5,
    ...more,
  });
const on = (name: string, action: 'in_progress' | 'completed', labels = ['k8s'], id = 900) =>
  ofJob(action, id, { labels, job: { runner_name: name, runner_id: 5 } });
const FOREIGN = ['ubuntu-latest'];

test('a queued job is a waiting row with its pool, scope and labels (A2, A6, C2)', async () => {
  const queued_at = new Date(Date.now() - 60_000);
  await record(
    ofJob('queued', 900, {
      labels: ['self-hosted', 'K8s'],
      job: { created_at: queued_at.toISOString(), started_at: null },
    }),
  );
  expect(await job()).toMatchObject({
    status: 'pending',
    wants_worker: true,
    k8s_pool: 'small',
    k8s_image: 'runner:1',
    scope_repo_id: 0,
    pools_version: 1,
    entity_id: 11,
    repo_id: 21,
    installation_id: 31,
    app_id: 41,
    job_labels: ['k8s', 'self-hosted'],
    queued_at,
    started_at: null,
    revision: 0,
  });
});

describe('a delivery that names a runner', () => {
  test.each([null, 0])('and has %j for its id binds the worker of that name', async (runner_id) => {
    await addWorker('pdk-1');
    const runner = { runner_name: 'pdk-1', runner_id };
    await record(ofJob('in_progress', 900, { labels: ['k8s'], job: runner }));
    expect(await worker('pdk-1')).toMatchObject({ assigned_job_id: 900 });
  });

  test('binds the worker of that name once, and explains its end (B7)', async () => {
    await addWorker('pdk-1', { unexplained_until: new Date(Date.now() + 60_000) });
    await record(on('pdk-1', 'in_progress'));
    const bound = await worker('pdk-1');
    expect(bound).toMatchObject({
      assigned_job_id: 900,
      assigned_at: expect.any(Date),
      unexplained_until: null,
    });
    expect(await job()).toMatchObject({ k8s_pod: 'pdk-1', k8s_pool: 'small' });
    await record(on('pdk-1', 'completed'));
    expect(await worker('pdk-1')).toEqual(bound);
  });

  test('gives a job that fits no pool a row with the pool of its worker, and its end is stored too (B7)', async () => {
    const assigned_at = new Date(Date.now() - 60_000);
    await addWorker('pdk-1', { assigned_at });
    expect(await record(on('pdk-1', 'in_progress', FOREIGN))).toEqual(['worker_bound']);
    const row = { wants_worker: false, k8s_pool: 'large', k8s_image: 'runner:9', k8s_pod: 'pdk-1' };
    expect(await job()).toMatchObject({ ...row, status: 'running', scope_repo_id: 0 });
    expect(await worker('pdk-1')).toMatchObject({ assigned_job_id: 900, assigned_at });
    await record(on('pdk-1', 'completed', FOREIGN));
    expect(await job()).toMatchObject({ ...row, status: 'completed', conclusion: 'failure' });
  });

  test.each([
    ['another entity', { entity_id: 12 }, null],
    ['another repository', { scope_repo_id: 22 }, null],
    ['the repository', { scope_repo_id: 21 }, 900],
  ])(
    'binds or leaves a worker of %s by its scope, with any name (B7)',
    async (_whose, scope, bound) => {
      await addWorker('pdk-1', scope);
      await record(on('pdk-1', 'in_progress'));
      expect(await worker('pdk-1')).toMatchObject({
        assigned_job_id: bound,
        revision: bound === null ? 0 : 1,
      });
      expect((await job())?.k8s_pod).toBe(bound === null ? null : 'pdk-1');
    },
  );
});
