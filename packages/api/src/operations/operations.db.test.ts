import { beforeEach, describe, expect, test } from '@jest/globals';
import { claimTasks } from '@paddock/queue/claim-tasks';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { done, poison } from '@paddock/queue/kind';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { ask, askAll } from '../scenes/ask.scene.ts';
import { listOperationsEndpoint } from './list-operations.ts';
import { countOperationsEndpoint, findOperationEndpoint } from './operation.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

const subject = { type: 'repository', id: 'acme/app', name: 'acme/app' };

async function enqueueOne(kind: string, id = subject.id): Promise<string> {
  const [task] = await enqueueAlone(database.db, [{ kind, subject: { ...subject, id } }]);
  return task?.id ?? '';
}
const CLAIM = { holder: 'x', claimMs: 60_000, takeOver: false, keepFailedMs: 60_000 };

/** Runs what is due. */
const runAll = () =>
  runDueTasks({
    db: database.db,
    kinds: {
      quick: { slots: 1, handler: () => Promise.resolve(done({ made: 1 })) },
      failing: { slots: 1, handler: () => Promise.resolve(poison('no such row')) },
    },
  });
const find = (operation: string) => ask(findOperationEndpoint, database.db, { operation });
const list = async (id = subject.id, more: object = {}) =>
  (await ask(listOperationsEndpoint, database.db, { subject: `repository:${id}`, ...more })).items;

describe('an operation', () => {
  test('whose next run is in the year 33658 is listed beside the others (P6)', async () => {
    await enqueueOne('quick');
    await sql`update tasks set due_at = '33658-01-01T00:00:00Z'`.execute(database.db);
    await enqueueOne('quick', 'acme/other');
    expect(await list()).toMatchObject([{ nextRunAt: '+033658-01-01T00:00:00.000Z' }]);
  });

  test('says what it did or why it failed, until it expires (F1, F2)', async () => {
    const [good, bad] = [await enqueueOne('quick'), await enqueueOne('failing')];
    await runAll();
    expect(await find(good)).toMatchObject({ output: { made: 1 }, failure: null });
    const failure = { reason: 'poison', message: 'no such row' };
    expect(await find(bad)).toMatchObject({ status: 'ERROR', output: null, failure });
    await sql`update operations set expires_at = now()`.execute(database.db);
    for (const id of [good, bad]) await expect(find(id)).rejects.toMatchObject({ status: 404 });
    expect(await list()).toEqual([]);
    expect(await all()).toEqual([]);
  });
});

describe('the operations of a subject', () => {
  test('have their output and failed runs if asked for (F4)', async () => {
    for (const kind of ['quick', 'failing']) {
      await enqueueOne(kind);
      await runAll();
    }
    await enqueueOne('later');
    const detailed = await list(subject.id, { detail: 'true' });
    expect(detailed.map(({ kind, output, failures }) => [kind, output, failures])).toEqual([
      ['later', null, []],
      ['failing', null, [expect.objectContaining({ message: 'no such row' })]],
      ['quick', { made: 1 }, []],
    ]);
    const rows = await list();
    expect(rows.flatMap((row) => Object.keys(row))).not.toContain('output');
    expect(detailed).toMatchObject(rows);
  });

  test('come in pages, each one once, also those of one instant (F4)', async () => {
    for (let n = 0; n < 5; n += 1) await enqueueOne(`kind-${n}`);
    await sql`update tasks set queued_at = now()`.execute(database.db);
    const asked = { subject: 'repository:acme/app', limit: '2' };
    const kinds = (await askAll(listOperationsEndpoint, database.db, asked)).map((row) => row.kind);
    expect(kinds.toSorted()).toEqual(['kind-0', 'kind-1', 'kind-2', 'kind-3', 'kind-4']);
  });
});

const all = async (more: object = {}) =>
  (await askAll(listOperationsEndpoint, database.db, { limit: '2', ...more })).map(
    ({ kind, subject: { id }, status, waitsFor }) =>
      [kind, id, status, ...(waitsFor === null ? [] : [waitsFor])].join(' '),
  );

test('operations of all subjects are those that run, then those that wait and for what, then those that ended, by filters (F4, F6)', async () => {
  for (const id of ['a', 'b'])
    for (const kind of ['failing', 'quick']) {
      await enqueueOne(kind, id);
      await runAll();
    }
  for (const kind of ['gone', 'runs']) {
    await enqueueOne(kind);
    await claimTasks(database.db, { ...CLAIM, slots: { [kind]: 1 } });
  }
  const minute = sql`interval '1 minute'`;
  await sql`update tasks set locked_until = now() - ${minute} where kind = 'gone'`.execute(
    database.db,
  );
  for (const kind of ['runs', 'free', 'nobody', 'later', 'again']) await enqueueOne(kind);
  await sql`update tasks set due_at = now() - ${minute} where kind = 'nobody'`.execute(database.db);
  await sql`update tasks set due_at = now() + ${minute} where kind in ('later', 'again')`.execute(
    database.db,
  );
  await sql`update tasks set failures = '[{"reason": "error", "message": "no route"}]' where kind = 'again'`.execute(
    database.db,
  );
  const rows = await all();
  expect(rows).toEqual([
    'runs acme/app RUNNING',
    'again acme/app QUEUED its next try: no route',
    'later acme/app QUEUED its time',
    'nobody acme/app QUEUED a living process: none runs tasks of this kind',
    'free acme/app QUEUED a free place among those of its kind',
    'runs acme/app QUEUED the one before it, which runs',
    'gone acme/app QUEUED another process to take it on: the one that ran it is gone',
    'quick b OK',
    'failing b ERROR',
    'quick a OK',
    'failing a ERROR',
  ]);
  for (const [filter, isMeant] of [
    [{ status: 'RUNNING' }, / RUNNING/],
    [{ status: 'QUEUED' }, / QUEUED/],
    [{ status: 'OK' }, / OK/],
    [{ status: 'ERROR', kind: 'failing' }, / ERROR/],
    [{ reason: 'poison' }, / ERROR/],
    [{ reason: 'error' }, /^again/],
    [{ handled: 'true' }, /^$/],
    [{ subject: 'repository:a' }, /^\w+ a /],
    [{ subject: 'repository:ACME/app', kind: 'runs' }, /^runs/],
    [{ from: '-1h' }, /./],
    [{ to: '-1h' }, /^$/],
  ] as const)
    expect([filter, await all(filter)]).toEqual([filter, rows.filter((row) => isMeant.test(row))]);
});

describe('the counts', () => {
  test('stay when operations expire and are rolled up (F3)', async () => {
    for (const id of ['a', 'b']) await enqueueOne('quick', id);
    await enqueueOne('failing');
    await runAll();
    await sql`delete from operations`.execute(database.db);
    const { items } = await ask(countOperationsEndpoint, database.db, { from: '-2h', step: 'day' });
    const sums = Map.groupBy(items, ({ kind, outcome, reason }) => `${kind} ${outcome} ${reason}`);
    expect(
      [...sums].map(([key, rows]) => [key, rows.reduce((sum, { ended }) => sum + ended, 0)]),
    ).toEqual([
      ['failing ERROR poison', 1],
      ['quick OK null', 2],
    ]);
  });

  test('are of the hours that begin within the span, by kind (F3)', async () => {
    await sql`insert into task_counts (hour, kind, outcome, ended)
      select make_timestamptz(2026, 1, 31, n, 0, 0, 'UTC'), kind, 'OK', 10 * n from generate_series(8, 11) n, unnest(array['a', 'b']) kind`.execute(
      database.db,
    );
    const span = { from: '2026-01-31T09:00:00Z', to: '2026-01-31T11:00:00Z', kind: 'a' };
    const { items } = await ask(countOperationsEndpoint, database.db, span);
    expect(items.map(({ kind, ended }) => [kind, ended])).toEqual([
      ['a', 90],
      ['a', 100],
    ]);
  });
});
