import { beforeEach, describe, expect, test } from '@jest/globals';
import { lockMatching } from '@paddock/db/matching/matching-lock';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { listActionsEndpoint } from '../actions/list-actions.ts';
import { findOperationEndpoint } from '../operations/operation.ts';
import { ask } from '../scenes/ask.scene.ts';
import { listSwitchesEndpoint } from '../switches/switches.ts';
import { drainPoolEndpoint } from './pools.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, [
    'workers',
    'tasks',
    'operations',
    'task_counts',
    'switches',
    'actions',
  ]);
  await putPools(database.db, examplePools());
});

const drain = (more: object = {}) =>
  ask(drainPoolEndpoint, database.dbOf('console'), { pool: 'linux', ...more });
const put = async (given: Parameters<typeof putWorker>[1] = {}) =>
  (await putWorker(database.db, given)).pod_name;
const stops = async () =>
  (
    await database.db
      .selectFrom('workers')
      .select('pod_name')
      .where('stop_reason', '=', 'drained')
      .orderBy('pod_name')
      .execute()
  ).map((row) => row.pod_name);
const tasks = async () =>
  (
    await database.db
      .selectFrom('tasks')
      .select('subject_id')
      .where('kind', '=', 'stop-worker')
      .orderBy('subject_id')
      .execute()
  ).map((row) => row.subject_id);
const actions = async () => (await ask(listActionsEndpoint, database.db)).items;
const switches = async () => (await ask(listSwitchesEndpoint, database.db)).items;

describe('draining a pool (F5)', () => {
  test('asks each worker to stop that no job is known to run on, once', async () => {
    const now = new Date();
    const wanted = [
      await put(),
      await put({ status: 'running', running_at: now, registered_at: now }),
      // It would serve the next job.
      await put({ stopping_at: now, stop_reason: 'surplus' }),
    ];
    await put({ status: 'running', assigned_at: now });
    await put({ status: 'completed', completed_at: now });
    await put({ stopping_at: now, stop_reason: 'offline' });
    await put({ stopping_at: now, stop_reason: 'surplus', deregistration_started_at: now });
    await put({ k8s_pool: 'gpu' });

    const counts = { stopping: 3, busy: 1 };
    expect(await drain({ dryRun: true })).toMatchObject({
      kind: 'drain-pool',
      subject: { type: 'dry-run', id: 'linux' },
      status: 'OK',
      output: { dryRun: true, ...counts },
    });
    expect([await stops(), await tasks()]).toEqual([[], []]);
    const drained = await drain();
    expect(drained).toMatchObject({
      kind: 'drain-pool',
      subject: { type: 'pool', id: 'linux' },
      origin: 'MANUAL',
      requestedBy: 'ada',
      status: 'OK',
      output: counts,
      askers: [{ person: 'ada' }],
    });
    expect(await ask(findOperationEndpoint, database.db, { operation: drained.id })).toEqual(
      drained,
    );
    expect(await stops()).toEqual(wanted.toSorted());
    expect(await tasks()).toEqual(wanted.toSorted());
    expect(await drain()).toMatchObject({ output: { stopping: 0, busy: 1 } });
  });

  test('stops the making there at once, as a dry run does not, and stands in the audit (C12)', async () => {
    await drain({ dryRun: true });
    expect(await switches()).toEqual([]);
    const note = 'new image';
    const { id } = await drain({ note });
    expect(await switches()).toMatchObject([{ subject: 'pool:linux', by: 'ada', note }]);
    expect(await actions()).toMatchObject([
      { endpoint: 'drainPool', person: 'ada', subject: { pool: 'linux' }, note, operation: id },
      { endpoint: 'drainPool', subject: { pool: 'linux', dryRun: 'true' } },
    ]);
  });

  test('waits for the pass of matching that is under way, and stops its workers too (C12)', async () => {
    const limits = { lockTimeoutMs: 5_000, statementTimeoutMs: 5_000, idleTimeoutMs: 5_000 };
    const pass = await database.db.startTransaction().execute();
    await lockMatching(pass, limits);
    const drained = drain();
    await waitFor('the drain waits', async () => {
      const { rows } = await sql`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(
        pass,
      );
      return rows.length > 0;
    });
    await putWorker(pass);
    await pass.commit().execute();
    expect(await drained).toMatchObject({ output: { stopping: 1 } });
    expect(await stops()).toHaveLength(1);
  });
});
