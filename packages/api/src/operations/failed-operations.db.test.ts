import { beforeEach, describe, expect, test } from '@jest/globals';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { poison } from '@paddock/queue/kind';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { listActionsEndpoint } from '../actions/list-actions.ts';
import { ask } from '../scenes/ask.scene.ts';
import { turnSwitchEndpoint } from '../switches/switches.ts';
import { handleFailedOperationsEndpoint, handleOperationEndpoint } from './failed-operations.ts';
import { listOperationsEndpoint } from './list-operations.ts';
import { findOperationEndpoint } from './operation.ts';

const database = useTestDatabase();
beforeEach(() => emptyAll(database.db));

const find = (operation: string) => ask(findOperationEndpoint, database.db, { operation });
const OPEN = { status: 'ERROR', handled: 'false' };
const failed = async (more: Readonly<Record<string, unknown>> = {}) =>
  (await ask(listOperationsEndpoint, database.db, { ...OPEN, ...more })).items.map(({ id }) => id);
const actions = async () => (await ask(listActionsEndpoint, database.db)).items;
const queued = () => database.db.selectFrom('tasks').selectAll().orderBy('queued_at').execute();

/** A task that ends as this says. */
async function ended(kind: string, id: string, outcome = poison('no such row')): Promise<string> {
  const task = { kind, subject: { type: 'worker', id, name: 'W' }, payload: { a: 1 } };
  const [made] = await enqueueAlone(database.db, [
    { ...task, maxAttempts: 2, deliveryGuid: 'guid' },
  ]);
  const handler = () => Promise.resolve(outcome);
  await runDueTasks({ db: database.db, kinds: { [kind]: { slots: 1, handler } } });
  return made?.id ?? '';
}

const handle =
  (how: string) =>
  (operation: string, person = 'ada', note?: string) =>
    ask(handleOperationEndpoint, database.db, { operation, how, note }, person);
const [retry, discard] = [handle('retry'), handle('discard')];
const handleAll = (how: string) => (input: object) =>
  ask(handleFailedOperationsEndpoint, database.db, { how, ...input }, 'grace');
const [retryAll, discardAll] = [handleAll('retry'), handleAll('discard')];

describe('a failed operation (F6)', () => {
  test('is repeated as it was, with all attempts, and keeps who had it repeated', async () => {
    const id = await ended('a', 'x');
    expect((await find(id)).failures).toEqual([
      { attempt: 1, at: expect.any(String), reason: 'poison', message: 'no such row' },
    ]);
    const again = await retry(id, 'grace', 'it is back');
    expect(again).toMatchObject({
      kind: 'a',
      subject: { type: 'worker', id: 'x', name: 'W' },
      status: 'QUEUED',
      origin: 'MANUAL',
      attempt: 0,
      maxAttempts: 2,
      requestedBy: 'grace',
      askers: [{ person: 'grace', note: 'it is back' }],
    });
    expect(await queued()).toMatchObject([{ payload: { a: 1 }, delivery_guid: 'guid' }]);
    expect(await find(id)).toMatchObject({
      status: 'ERROR',
      handled: { by: 'grace', at: expect.any(String), retriedAs: again.id },
    });
    expect([await failed(), await failed({ handled: 'true' })]).toEqual([[], [id]]);
    expect(await actions()).toMatchObject([
      { subject: { operation: id, how: 'retry' }, operation: again.id },
    ]);
  });

  test('is discarded, found until it expires, and keeps who did it', async () => {
    const id = await ended('a', 'x');
    const byAda = { by: 'ada', at: expect.any(String), retriedAs: null };
    expect(await discard(id, 'ada', 'known')).toMatchObject({ id, handled: byAda });
    expect(await find(id)).toMatchObject({ handled: byAda });
    expect([await failed(), await queued()]).toEqual([[], []]);
    expect(await actions()).toMatchObject([{ subject: { how: 'discard' }, note: 'known' }]);
  });

  test('is dealt with once, by the first of two people', async () => {
    const id = await ended('a', 'x');
    const both = await Promise.allSettled([retry(id, 'ada'), discard(id, 'grace')]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { handled } = await find(id);
    await expect(discard(id, 'linus')).rejects.toMatchObject({
      status: 409,
      detail: expect.stringContaining(`${handled?.by} has dealt with it before`),
    });
    expect(await actions()).toHaveLength(1);
  });

  test('is not repeated while its sweep is paused', async () => {
    const id = await ended('check-apps', 'x');
    await ask(turnSwitchEndpoint, database.db, { how: 'pause', subject: 'sweeps' }, 'grace');
    await expect(retry(id)).rejects.toMatchObject({
      status: 409,
      detail: expect.stringContaining('paused by grace'),
    });
    expect([await failed(), await queued()]).toEqual([[id], []]);
    // What is no sweep is not paused by that.
    await retry(await ended('stop-worker', 'x'));
    // A dry run runs all the same.
    const trial = await ended('delete-ended-pods', 'delete-ended-pods');
    const subject = { subject_type: 'dry-run' };
    await database.db.updateTable('operations').set(subject).where('id', '=', trial).execute();
    expect(await retry(trial)).toMatchObject({ status: 'QUEUED', subject: { type: 'dry-run' } });
  });
});

const fillWithFailed = (kind: string, many: number) =>
  sql`
    insert into operations (id, kind, subject_type, subject_id, payload, origin, status, attempt, max_attempts, crashes, failures,
      queued_at, expires_at, failure_reason)
    select gen_random_uuid(), ${kind}, 'worker', n::text, '{}', 'AUTOMATIC', 'ERROR', 1, 1, 0, '[]', now(), now() + interval '1 day', 'attempts'
    from generate_series(1, ${many}::integer) n`.execute(database.db);

describe('failed operations by a filter (F6)', () => {
  const none = { operations: 0, dryRun: false, paused: 0, more: false };

  test('are retried by kind and by when they ended, each once', async () => {
    const [old, other] = [await ended('a', 'old'), await ended('b', 'x')];
    await sql`update operations set finished_at = now() - interval '3 hours' where id = ${old}::uuid`.execute(
      database.db,
    );
    const fresh = [await ended('a', 'x'), await ended('a', 'y')];
    const filter = { kind: 'a', from: '-1h' };
    expect(await failed(filter)).toEqual(fresh.toReversed());
    expect(await retryAll({ ...filter, dryRun: true })).toEqual({
      ...none,
      operations: 2,
      dryRun: true,
    });
    expect([await queued(), await actions()]).toEqual([[], []]);
    expect(await retryAll(filter)).toEqual({ ...none, operations: 2 });
    expect(await retryAll(filter)).toEqual(none);
    expect(await failed()).toEqual([other, old]);
    const tasks = await queued();
    expect(tasks.map((task) => task.subject_id).toSorted()).toEqual(['x', 'y']);
    for (const { id } of tasks)
      expect(await find(id)).toMatchObject({ requestedBy: 'grace', askers: [{ person: 'grace' }] });
    expect(new Set((await actions()).map(({ operation }) => operation))).toEqual(
      new Set(tasks.map(({ id }) => id)),
    );
  });

  test('are retried although the sweep of newer ones is paused: those are left, and counted', async () => {
    const other = await ended('a', 'x');
    const held = await ended('check-apps', 'x');
    await ask(turnSwitchEndpoint, database.db, { how: 'pause', subject: 'check-apps' }, 'grace');
    await fillWithFailed('check-apps', 200);
    const left = { ...none, operations: 1, paused: 200 };
    expect(await retryAll({ dryRun: true })).toEqual({ ...left, dryRun: true });
    expect(await retryAll({})).toEqual(left);
    expect(await find(other)).toMatchObject({ handled: { by: 'grace' } });
    expect(await queued()).toHaveLength(1);
    expect(await retryAll({ kind: 'check-apps' })).toMatchObject({ operations: 0, more: false });
    expect(await discardAll({ subject: 'worker:x' })).toEqual({ ...none, operations: 1 });
    expect(await find(held)).toMatchObject({ handled: { retriedAs: null } });
  });

  test('are discarded, each with its row in the audit', async () => {
    const ids = [await ended('a', 'x'), await ended('a', 'y')];
    expect(await discardAll({ kind: 'a', dryRun: true })).toMatchObject({ operations: 2 });
    for (const [filter, operations] of [
      [{ subject: 'worker:x' }, 1],
      [{ subject: 'worker:z' }, 0],
      [{ reason: 'poison' }, 2],
      [{ reason: 'attempts' }, 0],
    ] as const) {
      expect(await discardAll({ ...filter, dryRun: true })).toMatchObject({ operations });
      expect(await failed(filter)).toHaveLength(operations);
    }
    expect(await failed()).toHaveLength(2);
    expect(await discardAll({ kind: 'a', note: 'known' })).toEqual({ ...none, operations: 2 });
    expect(await failed()).toEqual([]);
    for (const id of ids) expect(await find(id)).toMatchObject({ handled: { by: 'grace' } });
    expect(await discardAll({ kind: 'a' })).toEqual(none);
    const audit = await actions();
    expect(new Set(audit.map(({ subject }) => subject['operation']))).toEqual(new Set(ids));
    expect(audit[0]).toMatchObject({ person: 'grace', note: 'known', operation: null });
  });

  test('are at most 200 at a time, and the answer says that there are more', async () => {
    await fillWithFailed('a', 201);
    expect(await discardAll({})).toEqual({ ...none, operations: 200, more: true });
    expect(await discardAll({})).toEqual({ ...none, operations: 1 });
  });
});
