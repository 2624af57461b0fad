import { beforeEach, describe, expect, test } from '@jest/globals';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { poison } from '@paddock/queue/outcome';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { runCommand } from './run-command.ts';

const handler = () => Promise.resolve(poison('no such row'));

describe('failed operations in the terminal (F6)', () => {
  const database = useTestDatabase();
  const paddock = (...words: string[]) =>
    runCommand(words, { DATABASE_URL: database.url, PADDOCK_SCHEMA: database.schema });
  const counts = async (...words: string[]) => (await paddock(...words)).stdout;
  let ids: string[] = [];

  beforeEach(async () => {
    const { db } = database;
    await emptyTables(db, ['tasks', 'operations', 'actions']);
    const subjects = ['x', 'y'].map((id) => ({ type: 'worker', id }));
    const tasks = await enqueueAlone(
      db,
      subjects.map((subject) => ({ kind: 'a', subject })),
    );
    ids = tasks.map(({ id }) => id);
    await runDueTasks({ db, kinds: { a: { slots: 2, handler } } });
  });

  test('are retried or discarded one by one, and say by whom', async () => {
    const [one = '', other = ''] = ids;
    const retried = await paddock('operation', 'retry', one, '--by', 'ada');
    expect(retried.stdout).toMatch(/^queued: a of [xy]\. See /);
    expect((await paddock('operation', one)).stdout).toMatch(/retried as \S+ by ada at /);
    expect((await paddock('operation', one)).stdout).toMatch(/\n1 +\S+ +poison +no such row\n/);
    await paddock('operation', 'discard', other, '--by', 'grace');
    expect((await paddock('operation', other)).stdout).toMatch(/discarded by grace at /);
    expect((await paddock('operations', 'failed')).stdout).toBe('No operation has failed.\n');
    expect(await paddock('operation', 'discard', other)).toMatchObject({
      code: 1,
      stderr: 'grace has dealt with it before: it was discarded.\n',
    });
  });

  test('are retried or discarded by a filter', async () => {
    expect(await counts('operations', 'retry', '--from', '-1h', '--dry-run')).toBe(
      '2 failed operations would be repeated.\n',
    );
    expect(await counts('operations', 'discard', '--all')).toBe(
      '2 failed operations are discarded.\n',
    );
    expect(await counts('operations', 'retry', '--kind', 'a')).toBe(
      '0 failed operations are repeated.\n',
    );
  });
});
