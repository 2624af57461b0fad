import { beforeEach, describe, expect, test } from '@jest/globals';
import { putInstallation } from '@paddock/testing/demand-rows';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { API } from '../endpoints.ts';
import { ask, askAll } from '../scenes/ask.scene.ts';
import { revokeTokenEndpoint } from '../tokens/tokens.ts';
import { listActionsEndpoint } from './list-actions.ts';

const database = useTestDatabase();
beforeEach(() => emptyTables(database.db, ['tokens', 'actions']));

const create = (name: string, person: string, note?: string) =>
  ask(API.createToken, database.db, { name, access: 'read', note }, person);
const revoke = (name: string, person: string) =>
  ask(revokeTokenEndpoint, database.db, { token: name }, person);
const list = async () => (await ask(listActionsEndpoint, database.db)).items;

describe('the audit (F7)', () => {
  test('has who did what to what, from where, when and why, the newest first', async () => {
    await create('ci', 'ada', 'for the build');
    await revoke('ci', 'grace');
    const subject = { token: 'ci' };
    const [at, from] = [expect.any(String), 'api'];
    expect(await list()).toMatchObject([
      { endpoint: 'revokeToken', person: 'grace', from, at, subject, note: null },
      { endpoint: 'createToken', person: 'ada', from, at, subject, note: 'for the build' },
    ]);
  });

  test('names an entity by its login today', async () => {
    await putInstallation(database.db, { entity_id: 9, login: 'wonka' });
    for (const subject of ['entity:9', 'environment'])
      await ask(API.turnSwitch, database.db, { subject, how: 'pause' }, 'ada');
    expect((await list()).map(({ login }) => login)).toEqual([null, 'wonka']);
  });

  test('takes the action back when it cannot be written', async () => {
    const { db } = database;
    await db.schema.alterTable('actions').renameTo('mislaid').execute();
    await expect(create('ci', 'ada')).rejects.toThrow(/actions/);
    await db.schema.alterTable('mislaid').renameTo('actions').execute();
    expect(await db.selectFrom('tokens').select('name').execute()).toEqual([]);
  });

  test('comes in pages, each row once', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name, 'ada');
    const rows = await askAll(listActionsEndpoint, database.db, { limit: '2' });
    expect(rows.map(({ subject }) => subject['token'])).toEqual(['e', 'd', 'c', 'b', 'a']);
  });

  test.each(['', 'two\nlines', 'a\0b', 'x'.repeat(501)])('takes no note %j', (note) => {
    const read = API.createToken.input.safeParse({ name: 'ci', access: 'read', note });
    expect(read.success).toBe(false);
  });
});
