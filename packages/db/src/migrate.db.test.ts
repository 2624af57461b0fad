import { cpSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEmptyDatabase, type EmptyDatabase } from '@paddock/testing/database';
import { describeSchema } from '@paddock/testing/describe-schema';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import { untilBlocked } from '@paddock/testing/sessions';
import { dropDatabase, urlOfDatabase, withConnection } from '@paddock/testing/server-connection';
import { useFolder } from '@paddock/testing/use-folder';
import { connectDatabase, type DatabaseConnection } from './connection/connect.ts';
import { sqlStateOf } from './connection/errors.ts';
import { migrate, MIGRATIONS, pendingSql } from './migrate.ts';
import { readDatabaseFacts, whyUnfit } from './database-checks.ts';
import { SCHEMA_VERSION } from './schema-version.ts';

const names = readdirSync(MIGRATIONS)
  .map((file) => file.replace(/\.sql$/, ''))
  .toSorted();
const MADE_UP = {
  '9001_first': 'create table made_up (id bigint primary key);',
  '9002_second': 'alter table made_up add column note text;',
};
const LATER = Object.keys(MADE_UP);

let database: EmptyDatabase;
const folders = useFolder();

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

/** The folder of a later version, which has these migrations too. */
function folderWith(migrations: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(folders, 'migrations-'));
  cpSync(MIGRATIONS, folder, { recursive: true });
  for (const [name, text] of Object.entries(migrations))
    writeFileSync(join(folder, `${name}.sql`), text);
  return folder;
}

const withClient = <T>(work: (client: pg.Client) => Promise<T>) =>
  withConnection(database.url, work);

async function inSchema<T>(
  schema: string,
  ask: (db: DatabaseConnection['db']) => Promise<T>,
): Promise<T> {
  const options = { url: database.url, schema, poolSize: 1, applicationName: 'paddock-test' };
  const { db, close } = connectDatabase(options);
  try {
    return await ask(db);
  } finally {
    await close();
  }
}
const describeAs = (schema: string) => inSchema(schema, describeSchema);
const unfitness = (schema: string) =>
  inSchema(schema, async (db) => whyUnfit(await readDatabaseFacts(db, { schema }), { schema }));

const ask = async <R extends object>(text: string): Promise<R[]> =>
  withClient(async (client) => (await client.query<R>(text)).rows);

/** How a statement fails for the members of a role. */
const failureAs = (role: string, statement: string) =>
  withClient(async (client) => {
    await client.query(`set role ${role}`);
    return client.query(statement).then(() => 'allowed', sqlStateOf);
  });

/** Each right on a table or a column, by role. */
const rightsIn = async (schema: string) => {
  const rows = await ask<{ grant: string }>(`
    select format('%s: %s on %s', replace(grantee::regrole::text, '${schema}_', ''), privilege_type, object) as grant from (
      select relname as object, (aclexplode(relacl)).*, relowner as owner from pg_class where relnamespace = '${schema}'::regnamespace
      union all
      select relname || '.' || attname, (aclexplode(attacl)).*, relowner from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = '${schema}'::regnamespace
    ) granted where grantee <> owner order by 1`);
  return rows.map((row) => row.grant);
};

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

  test('a migration that PostgreSQL gives up for a service’s transaction is tried again', async () => {
    const busy = { url: database.url, schema: 'busy' };
    await migrate(busy);
    const folder = folderWith({
      '9001_first': 'lock jobs; select pg_advisory_xact_lock(9001); lock workers;',
    });
    // Who closes the circle looks for it, so the migration does that, and the service never looks.
    await withClient(async (service) => {
      await service.query("begin; set local deadlock_timeout = '1h'; lock busy.workers");
      await withClient(async (gate) => {
        await gate.query('select pg_advisory_lock(9001)');
        const migrating = migrate({ ...busy, folder });
        await inSchema('busy', async (db) => {
          await untilBlocked(db, { applicationName: 'paddock-migrate' });
          const locked = service.query('lock busy.jobs; commit');
          await untilBlocked(db, { count: 2 });
          await gate.query('select pg_advisory_unlock(9001)');
          await locked;
        });
        expect(await migrating).toEqual({ applied: ['9001_first'] });
      });
    });
  });

  test('two that start at once apply each migration once between them', async () => {
    const race = { url: database.url, schema: 'race', folder: folderWith(MADE_UP) };
    const both = await Promise.all([migrate(race), migrate(race)]);
    expect(both.flatMap(({ applied }) => applied).toSorted()).toEqual([...names, ...LATER]);
  });

  test('the printed SQL, applied by hand, makes the same schema, grants the same, and leaves nothing pending', async () => {
    const folder = folderWith(MADE_UP);
    // Reserved words of SQL.
    const byHand = { url: database.url, schema: 'user', folder };
    const printed = await pendingSql(byHand);
    await withClient((client) => client.query(printed));
    await migrate({ ...byHand, schema: 'order' });
    expect(await describeAs('user')).toBe(await describeAs('order'));
    expect(await rightsIn('user')).toEqual(await rightsIn('order'));
    expect(await migrate(byHand)).toEqual({ applied: [] });
    expect(await unfitness('user')).toBeUndefined();
  });

  test('a database whose encoding cannot hold every text is refused before anything is done (A11)', async () => {
    const latin = `${new URL(database.url).pathname.slice(1)}_latin`;
    await ask(`create database ${latin} encoding 'LATIN1' locale 'C' template template0`);
    try {
      const url = urlOfDatabase(database.url, latin);
      await expect(migrate({ url, schema: 'latin' })).rejects.toThrow(
        /^the database has the encoding LATIN1, .* encoding 'UTF8'/,
      );
    } finally {
      await dropDatabase(database.url, latin);
    }
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
    expect(await unfitness('nothing_here')).toMatch(
      /^the schema nothing_here has no tables of Paddock: the migration has not run on this database, or/,
    );
  });

  test('an older one is unfit, with a sentence that says what to do; a newer one is fit', async () => {
    await migrate({ url: database.url, schema: 'versions' });
    await setVersion('versions', SCHEMA_VERSION - 1);
    expect(await unfitness('versions')).toBe(
      `the schema versions is at version ${SCHEMA_VERSION - 1} and this service needs ${SCHEMA_VERSION} or newer: run the migration of this version`,
    );
    for (const version of [SCHEMA_VERSION, SCHEMA_VERSION + 1, SCHEMA_VERSION + 2]) {
      await setVersion('versions', version);
      expect(await unfitness('versions')).toBeUndefined();
    }
  });
});

const SERVICES = ['ingress', 'scheduler', 'reconciler', 'console'];

describe('the roles of the services (A10)', () => {
  beforeAll(async () => {
    for (const schema of ['roles_one', 'roles_two']) await migrate({ url: database.url, schema });
  });

  test('each table belongs to a service, and each right was granted by name', async () => {
    const rights = await rightsIn('roles_one');
    const tables = await ask<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'roles_one' order by 1`,
    );
    const without = tables.filter(
      ({ name }) => !rights.some((right) => right.includes(` on ${name}`)),
    );
    expect(without).toEqual([]);
    expect(new Set(rights.map((right) => right.split(':', 1)[0]))).toEqual(new Set(SERVICES));
  });

  test('no service may alter, empty or drop a table, nor make one', async () => {
    for (const service of SERVICES) {
      for (const statement of [
        'alter table roles_one.jobs add extra text',
        'drop table roles_one.jobs',
        'create table roles_one.more ()',
        'truncate roles_one.jobs',
      ]) {
        expect([service, statement, await failureAs(`roles_one_${service}`, statement)]).toEqual([
          service,
          statement,
          '42501',
        ]);
      }
    }
  });

  test('a migrator that may make no roles says which are missing and goes on; once they are there it uses them', async () => {
    const url = new URL(database.url);
    await ask(`create role paddock_poor_migrator login password 'only for this test'`);
    try {
      await ask(`grant create on database ${url.pathname.slice(1)} to paddock_poor_migrator`);
      url.username = 'paddock_poor_migrator';
      url.password = 'only for this test';
      const first = await migrate({ url: url.href, schema: 'roles_poor' });
      const roles = SERVICES.map((service) => `roles_poor_${service}`);
      expect(first.missingRoles).toEqual(roles);
      expect(first.applied.length).toBeGreaterThan(0);
      for (const role of roles) await ask(`create role ${role} nologin`);
      expect(await migrate({ url: url.href, schema: 'roles_poor' })).toEqual({ applied: [] });
      expect(await rightsIn('roles_poor')).toEqual(await rightsIn('roles_one'));
    } finally {
      await ask(`drop owned by paddock_poor_migrator`);
      await ask(`drop role paddock_poor_migrator`);
      for (const service of SERVICES) await ask(`drop role if exists roles_poor_${service}`);
    }
  });
});
