import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createEmptyDatabase, type EmptyDatabase } from '@paddock/testing/database';
import { describeSchema } from '@paddock/testing/describe-schema';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { connectDatabase } from './connection/connect.ts';
import { sqlStateOf } from './connection/errors.ts';
import { migrate, pendingSql } from './migrate.ts';
import { SCHEMA_VERSION, whyUnfit } from './schema-version.ts';

const MIGRATIONS = readdirSync(join(import.meta.dirname, '../../../db/migrations')).map((file) =>
  file.replace(/\.sql$/, ''),
);

let database: EmptyDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

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

describe('migrate (A10)', () => {
  test('applies every migration once, in order, and then finds nothing to do', async () => {
    expect(await migrate({ url: database.url, schema: 'once' })).toEqual({ applied: MIGRATIONS });
    expect(await migrate({ url: database.url, schema: 'once' })).toEqual({ applied: [] });
    expect(await pendingSql({ url: database.url, schema: 'once' })).toBe('');
  });

  test('two that start at once apply each migration once between them', async () => {
    const both = await Promise.all([
      migrate({ url: database.url, schema: 'race' }),
      migrate({ url: database.url, schema: 'race' }),
    ]);
    expect(both.flatMap(({ applied }) => applied).toSorted()).toEqual(MIGRATIONS.toSorted());
  });

  test('two schemas of one database are the same but for their instance ids (A8)', async () => {
    await Promise.all([
      migrate({ url: database.url, schema: 'prod' }),
      migrate({ url: database.url, schema: 'staging' }),
    ]);
    expect(await describeAs('prod')).toBe(await describeAs('staging'));
    const ids = await withClient(async (client) => {
      const { rows } = await client.query<{ id: string }>(
        'select instance_id as id from prod.instance union all select instance_id from staging.instance',
      );
      return rows.map(({ id }) => id);
    });
    for (const id of ids) expect(id).toMatch(/^[a-z0-9]{6}$/);
    expect(new Set(ids).size).toBe(2);
  });

  test('the printed SQL, applied by hand, makes the same schema and leaves nothing pending', async () => {
    const printed = await pendingSql({ url: database.url, schema: 'by_hand' });
    await withClient((client) => client.query(printed));
    await migrate({ url: database.url, schema: 'by_migrator' });
    expect(await describeAs('by_hand')).toBe(await describeAs('by_migrator'));
    expect(await migrate({ url: database.url, schema: 'by_hand' })).toEqual({ applied: [] });
    expect(await unfitness('by_hand')).toBeUndefined();
  });

  test('a stop that names an entity by its login gets the id where that is known, and none keeps the schema from its newest version', async () => {
    const printed = await pendingSql({ url: database.url, schema: 'stopped' });
    const before = printed.slice(0, printed.indexOf('-- 0007_'));
    const stops = await withClient(async (client) => {
      await client.query(`${before} commit`);
      await client.query(`insert into stopped.installations (entity_id, app_id, installation_id, login, entity_type, stated_at)
        select 7, app, app, 'Acme', 'Organization', now() from generate_series(1, 2) app`);
      await client.query(`insert into stopped.stopped_making (subject_type, subject_id, stopped_by)
        values ('entity', 'acme', 'ada'), ('entity', 'missing', 'ada'), ('entity', '9', 'ada'), ('pool', 'linux', 'ada')`);
      await migrate({ url: database.url, schema: 'stopped' });
      return client.query<{ subject_id: string }>(
        'select subject_id from stopped.stopped_making order by subject_id',
      );
    });
    expect(stops.rows.map((row) => row.subject_id)).toEqual(['7', '9', 'linux', 'missing']);
  });

  test('logins that the pools name are pinned to the only known entity with that login', async () => {
    const printed = await pendingSql({ url: database.url, schema: 'pinned' });
    const before = printed.slice(0, printed.indexOf('-- 0011_'));
    const pins = await withClient(async (client) => {
      await client.query(`${before} commit`);
      await client.query(`insert into pinned.pools_documents (digest, content, loaded_by)
        values ('one', '{"pools": [{"name": "linux"}], "entities": {"Acme": {}, "globex": {}, "*": {}}}', 'ada')`);
      await client.query(`insert into pinned.installations (entity_id, app_id, installation_id, login, entity_type, stated_at)
        select entity_id, 7, entity_id, login, 'Organization', now() from (values (1, 'ACME'), (2, 'globex'), (3, 'Globex'), (4, 'else')) known(entity_id, login)`);
      await migrate({ url: database.url, schema: 'pinned' });
      return client.query<{ login: string }>(
        'select login, entity_id::integer as id from pinned.login_pins',
      );
    });
    expect(pins.rows).toEqual([{ login: 'acme', id: 1 }]);
  });

  test('printing changes nothing', async () => {
    await pendingSql({ url: database.url, schema: 'untouched' });
    const { rows } = await withClient((client) =>
      client.query(`select from pg_namespace where nspname = 'untouched'`),
    );
    expect(rows).toHaveLength(0);
  });

  test('a name that is no plain identifier is refused before anything is done (A8)', async () => {
    await expect(migrate({ url: database.url, schema: 'Prod; drop' })).rejects.toThrow(
      'cannot be used',
    );
  });

  test('the service’s role reads and writes rows, and can alter no table', async () => {
    await withClient((client) => client.query(`create role paddock_service_test login`));
    try {
      await migrate({ url: database.url, schema: 'roles', serviceRole: 'paddock_service_test' });
      await withClient(async (client) => {
        await client.query(`set search_path = roles; set role paddock_service_test`);
        await client.query(`insert into leases values ('a', 'b', 1, now())`);
        await client.query(`update leases set fence = 2`);
        await client.query(
          `insert into installation_events (source, event, outcome, payload) values ('webhook', 'ping', 'ok', '{}')`,
        );
        await client.query(`delete from leases`);
        for (const forbidden of [
          'alter table jobs add extra text',
          'drop table jobs',
          'create table more ()',
          'truncate jobs',
          'drop trigger jobs_touch on jobs',
        ])
          expect(await client.query(forbidden).then(() => 'allowed', sqlStateOf)).toBe('42501');
      });
    } finally {
      await withClient((client) =>
        client.query(`drop owned by paddock_service_test; drop role paddock_service_test`),
      );
    }
  });
});

describe('the schema’s version (A10)', () => {
  test('the code is written for the newest migration', () => {
    expect(Number.parseInt(MIGRATIONS.toSorted().at(-1) ?? '', 10)).toBe(SCHEMA_VERSION);
  });

  test('a database without our tables is unfit, with a sentence that says what to do', async () => {
    expect(await unfitness('nothing_here')).toBe(
      'the schema nothing_here has no tables of Paddock yet: run `pnpm db:migrate`',
    );
  });

  test('one version behind and one ahead are fit, two behind are not', async () => {
    await migrate({ url: database.url, schema: 'versions' });
    await withClient(async (client) => {
      await client.query(`set search_path = versions`);
      const newest = String(SCHEMA_VERSION).padStart(4, '0');
      await client.query(`delete from schema_migration where name like '${newest}%'`);
      expect(await unfitness('versions')).toBeUndefined();
      await client.query(
        `delete from schema_migration where name > '${String(SCHEMA_VERSION - 1).padStart(4, '0')}'`,
      );
      const behind = Number.parseInt(MIGRATIONS.toSorted().at(-3) ?? '', 10);
      expect(await unfitness('versions')).toContain(
        `is at version ${behind} and this service needs ${SCHEMA_VERSION - 1}`,
      );
      await client.query(
        `insert into schema_migration values ('${String(SCHEMA_VERSION + 1).padStart(4, '0')}_next', '2026')`,
      );
      expect(await unfitness('versions')).toBeUndefined();
    });
  });

  test('a newer one is left as it is, with the rights that it gives', async () => {
    await migrate({ url: database.url, schema: 'newer' });
    await withClient((client) =>
      client.query(`insert into newer.schema_migration values ('9999_next', '2026')`),
    );
    expect(await migrate({ url: database.url, schema: 'newer' })).toEqual({
      applied: [],
      unknown: '9999_next',
    });
  });
});
