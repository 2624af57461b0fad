import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmptyDatabase, type EmptyDatabase } from '@paddock/testing/database';
import { describeSchema } from '@paddock/testing/describe-schema';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { connectDatabase } from './connection/connect.ts';
import { migrate, MIGRATIONS, pendingSql } from './migrate.ts';
import { SCHEMA_VERSION, whyUnfit } from './schema-version.ts';

const names = readdirSync(MIGRATIONS)
  .map((file) => file.replace(/\.sql$/, ''))
  .toSorted();
const MADE_UP = {
  '9001_first': 'create table made_up (id bigint primary key);',
  '9002_second': 'alter table made_up add column note text;',
};
const LATER = Object.keys(MADE_UP);

let database: EmptyDatabase;
const folders: string[] = [];

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true });
  await database.drop();
});

/** The folder of a later version, which has these migrations too. */
function folderWith(migrations: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'paddock-migrations-'));
  folders.push(folder);
  cpSync(MIGRATIONS, folder, { recursive: true });
  for (const [name, text] of Object.entries(migrations))
    writeFileSync(join(folder, `${name}.sql`), text);
  return folder;
}

async function withClient<T>(
  work: (client: pg.Client) => Promise<T>,
  url = database.url,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function describeAs(schema: string): Promise<string> {
  const { db, close } = connectDatabase({
    url: database.url,
    schema,
    poolSize: 1,
    applicationName: 'paddock-test',
  });
  try {
    return await describeSchema(db);
  } finally {
    await close();
  }
}

async function unfitness(schema: string): Promise<string | undefined> {
  const { db, close } = connectDatabase({
    url: database.url,
    schema,
    poolSize: 1,
    applicationName: 'paddock-test',
  });
  try {
    return await whyUnfit(db, schema);
  } finally {
    await close();
  }
}

/** Notes one migration of this number as the only one. */
const setVersion = (schema: string, version: number) =>
  withClient((client) =>
    client.query(`truncate ${schema}.schema_migration;
      insert into ${schema}.schema_migration values ('${String(version).padStart(4, '0')}_x', '2026')`),
  );

describe('migrate (A10)', () => {
  test('applies every migration once, in order, and then finds nothing to do', async () => {
    const once = { url: database.url, schema: 'once' };
    expect(await migrate(once)).toEqual({ applied: names });
    expect(await migrate(once)).toEqual({ applied: [] });
    expect(await pendingSql(once)).toBe('');
    const later = { ...once, folder: folderWith(MADE_UP) };
    expect(await migrate(later)).toEqual({ applied: LATER });
    expect(await migrate(later)).toEqual({ applied: [] });
  });

  test('a migration that fails leaves nothing of itself; those before it stay', async () => {
    const half = 'create table half (); select 1 / 0;';
    const failing = { url: database.url, schema: 'failing' };
    await expect(
      migrate({ ...failing, folder: folderWith({ ...MADE_UP, '9002_second': half }) }),
    ).rejects.toThrow('Migration 9002_second failed in schema failing; nothing of it was kept.');
    const tables = await describeAs('failing');
    expect(tables).toContain('create table made_up (');
    expect(tables).not.toContain('create table half (');
    expect(await migrate({ ...failing, folder: folderWith(MADE_UP) })).toEqual({
      applied: ['9002_second'],
    });
  });

  test('two that start at once apply each migration once between them', async () => {
    const race = { url: database.url, schema: 'race', folder: folderWith(MADE_UP) };
    const both = await Promise.all([migrate(race), migrate(race)]);
    expect(both.flatMap(({ applied }) => applied).toSorted()).toEqual([...names, ...LATER]);
  });

  test('the printed SQL, applied by hand, makes the same schema and leaves nothing pending', async () => {
    const folder = folderWith(MADE_UP);
    const byHand = { url: database.url, schema: 'by_hand', folder };
    const printed = await pendingSql(byHand);
    await withClient((client) => client.query(printed));
    await migrate({ ...byHand, schema: 'by_migrator' });
    expect(await describeAs('by_hand')).toBe(await describeAs('by_migrator'));
    expect(await migrate(byHand)).toEqual({ applied: [] });
    expect(await unfitness('by_hand')).toBeUndefined();
  });

  test('a name that is no plain identifier is refused before anything is done (A8)', async () => {
    await expect(migrate({ url: database.url, schema: 'Prod; drop' })).rejects.toThrow(
      'cannot be used',
    );
  });
});

describe('the schema’s version (A10)', () => {
  test('the code is written for the newest migration', () => {
    expect(Number.parseInt(names.at(-1) ?? '', 10)).toBe(SCHEMA_VERSION);
  });

  test('a database without our tables is unfit, with a sentence that says what to do', async () => {
    expect(await unfitness('nothing_here')).toBe(
      'the schema nothing_here has no tables of Paddock yet: run `pnpm db:migrate`',
    );
  });

  test('an older one is unfit, with a sentence that says what to do; a newer one is fit', async () => {
    await migrate({ url: database.url, schema: 'versions' });
    await setVersion('versions', SCHEMA_VERSION - 1);
    expect(await unfitness('versions')).toBe(
      `the schema versions is at version ${SCHEMA_VERSION - 1} and this service needs ${SCHEMA_VERSION} or newer: run \`pnpm db:migrate\``,
    );
    for (const version of [SCHEMA_VERSION, SCHEMA_VERSION + 1, SCHEMA_VERSION + 2]) {
      await setVersion('versions', version);
      expect(await unfitness('versions')).toBeUndefined();
    }
  });
});
