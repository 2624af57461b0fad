import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEmptyDatabase, type EmptyDatabase } from '@paddock/testing/database';
import { withConnection } from '@paddock/testing/server-connection';
import { sql } from 'kysely';
import { connectDatabase } from './connection/connect.ts';
import { sqlStateOf } from './connection/errors.ts';
import { migrate, pendingSql } from './migrate.ts';
import { whyUnfit } from './schema-version.ts';

let database: EmptyDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
  for (const schema of ['roles_one', 'roles_two']) await migrate({ url: database.url, schema });
});
afterAll(() => database.drop());

const ask = async <R extends object>(text: string): Promise<R[]> =>
  withConnection(database.url, async (client) => (await client.query<R>(text)).rows);

/** How a statement fails for the members of a role. */
const failureAs = (role: string, statement: string) =>
  withConnection(database.url, async (client) => {
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

const SERVICES = ['ingress', 'scheduler', 'reconciler', 'console'];

describe('the roles of the services (A10)', () => {
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
      for (const forbidden of [
        'alter table jobs add extra text',
        'drop table jobs',
        'create table roles_one.more ()',
        'truncate jobs',
      ]) {
        const statement = forbidden.replace(' jobs', ' roles_one.jobs');
        expect([service, statement, await failureAs(`roles_one_${service}`, statement)]).toEqual([
          service,
          statement,
          '42501',
        ]);
      }
    }
  });

  test('a login outside its service’s role reads that as the reason, not that tables are missing', async () => {
    const db = connectDatabase({
      url: database.url,
      schema: 'roles_two',
      poolSize: 1,
      applicationName: 'paddock-test',
    });
    await sql`set role roles_one_ingress`.execute(db.db);
    expect(await whyUnfit(db.db, 'roles_two')).toBe(
      'the role roles_one_ingress may not use the schema roles_two: make it a member of its service’s role, see docs/roles.md',
    );
    await db.close();
  });

  test('the printed SQL, applied by hand, grants the same', async () => {
    const printed = await pendingSql({ url: database.url, schema: 'roles_by_hand' });
    await ask(printed);
    expect(await rightsIn('roles_by_hand')).toEqual(await rightsIn('roles_one'));
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
