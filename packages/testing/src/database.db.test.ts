import { sql } from 'kysely';
import { afterAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createEmptyDatabase, createTestDatabase } from './database.ts';
import { withConnection } from './server-connection.ts';

describe('createTestDatabase', () => {
  test('gives each caller a migrated database of its own, and drops it', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    expect(one.url).not.toBe(two.url);
    await sql`create table mark ()`.execute(one.db);
    expect(await tablesOf(one.url)).toEqual(expect.arrayContaining(['jobs', 'workers', 'mark']));
    expect(await tablesOf(two.url)).not.toContain('mark');

    await Promise.all([one.drop(), two.drop()]);
    await expect(tablesOf(one.url)).rejects.toMatchObject({ code: '3D000' });
  });

  test('drops a database that still has a session', async () => {
    const database = await createTestDatabase();
    const guest = new pg.Client({ connectionString: database.url });
    const cut = new Promise((resolve) => {
      guest.on('error', resolve);
    });
    await guest.connect();
    await database.drop();
    expect(await cut).toMatchObject({ code: '57P01' });
  });
});

describe('createEmptyDatabase', () => {
  test('does not contain our schema', async () => {
    const database = await createEmptyDatabase();
    expect(await tablesOf(database.url)).toEqual([]);
    await database.drop();
  });
});

describe('without the run’s own setup', () => {
  const template = process.env['PADDOCK_TEST_TEMPLATE'];

  afterAll(() => {
    process.env['PADDOCK_TEST_TEMPLATE'] = template;
  });

  test('says how such a test has to be run', async () => {
    delete process.env['PADDOCK_TEST_TEMPLATE'];
    await expect(createTestDatabase()).rejects.toThrow('PADDOCK_TEST_TEMPLATE is not set');
  });
});

async function tablesOf(url: string): Promise<string[]> {
  return withConnection(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(`select relname as name from pg_class
      where relkind in ('r', 'p') and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`);
    return rows.map(({ name }) => name);
  });
}
