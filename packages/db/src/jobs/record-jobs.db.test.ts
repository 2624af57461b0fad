import { beforeEach, describe, expect, test } from '@jest/globals';
import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { fc } from '@paddock/testing/random-cases';
import type { Insertable } from 'kysely';
import type { Database } from '../schema/tables.ts';
import {
  pools,
  at,
  queued,
  running,
  completed,
  foreign,
  RUNNING_WORKER,
  factsOf,
} from '../scenes/job-statements.scene.ts';
import { recordJobs } from './record-jobs.ts';
import { untilStored } from './store-jobs.ts';

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
  const facts = async () => factsOf(await job());
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

  test('any order, any grouping and any doubling of the deliveries end in the same row (A5, A6, B6)', async () => {
    await addWorker('pdk-aaaaaa-small-1');
    await record(queued);
    await record(running);
    await record(completed);
    const expected = await facts();
    expect(expected).toMatchObject({
      status: 'completed',
      wants_worker: false,
      conclusion: 'success',
      k8s_pod: 'pdk-aaaaaa-small-1',
    });

    const extra = fc.array(fc.constantFrom(queued, running, completed), { maxLength: 4 });
    const order = extra.chain((more) =>
      fc.shuffledSubarray([queued, running, completed, ...more], { minLength: 3 + more.length }),
    );
    const cuts = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 });
    await fc.assert(
      fc
        .asyncProperty(order, cuts, async (statements, cutsAfter) => {
          const batches: DeliveredStatement[][] = [[]];
          for (const [index, statement] of statements.entries()) {
            batches.at(-1)?.push(statement);
            if (cutsAfter[index] === true) batches.push([]);
          }
          for (const batch of batches) await record(...batch);
          expect(await facts()).toEqual(expected);
        })
        .beforeEach(async () => {
          await database.db.deleteFrom('jobs').execute();
        }),
      { numRuns: 60 },
    );
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

  test('many transactions with the same jobs and workers at once all succeed (B6)', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => 1_000 + index);
    for (const id of ids) await addWorker(`pdk-aaaaaa-small-${id}`);
    const statements = ids.flatMap((jobId) => {
      const runnerName = `pdk-aaaaaa-small-${2_011 - jobId}`;
      return [
        { ...queued, jobId },
        { ...running, jobId, runnerName },
        { ...completed, jobId, runnerName },
      ];
    });
    const shuffled = fc.sample(fc.shuffledSubarray(statements, { minLength: 15 }), { numRuns: 40 });
    await Promise.all(shuffled.map((batch) => record(...batch)));
    await record(...statements);
    const rows = await database.db.selectFrom('jobs').select(['status', 'k8s_pod']).execute();
    expect(rows).toHaveLength(12);
    expect(rows.every(({ status, k8s_pod: pod }) => status === 'completed' && pod !== null)).toBe(
      true,
    );
  });
});
