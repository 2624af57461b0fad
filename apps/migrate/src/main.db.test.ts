import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createEmptyDatabase, type EmptyDatabase } from '@paddock/testing/database';
import { withConnection } from '@paddock/testing/server-connection';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

let database: EmptyDatabase;
/** The code of the first start serves the next ones. */
const compiled = join(process.env['PADDOCK_TEST_PROGRAMS'] ?? '', 'migrate.compiled');

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

function migrate(
  env: Record<string, string>,
  ...args: string[]
): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'main.ts'), ...args],
    { env: { NODE_COMPILE_CACHE: compiled, ...env }, encoding: 'utf8' },
  );
  return { code: status, out: stdout, err: stderr };
}

describe('pnpm db:migrate (A10)', () => {
  test('prints without applying, applies, and says when there is nothing to do', () => {
    const env = { DATABASE_URL: database.url, PADDOCK_SCHEMA: 'staging' };
    const printed = migrate(env, '--print');
    expect(printed).toMatchObject({ code: 0, err: '' });
    expect(printed.out).toContain('create schema if not exists "staging";');
    const applied = migrate(env);
    expect(applied).toMatchObject({ code: 0, err: '' });
    expect(applied.out).toMatch(/^(Applied \d{4}_\w+ to the schema staging\.\n)+$/);
    expect(migrate(env).out).toBe('The schema staging is up to date: nothing to apply.\n');
    expect(migrate(env, '--print').out).toBe(
      '-- The schema staging is up to date: nothing is pending.\n',
    );
  });

  test('a login without CREATEROLE can install, and reads which statements create the roles', async () => {
    const url = new URL(database.url);
    Object.assign(url, { username: 'paddock_managed_login', password: 'only for this test' });
    await withConnection(database.url, (client) =>
      client.query(`create role ${url.username} login password 'only for this test';
        grant create on database ${url.pathname.slice(1)} to ${url.username}`),
    );
    try {
      const { code, out, err } = migrate({ DATABASE_URL: url.href, PADDOCK_SCHEMA: 'managed' });
      expect(err).toMatch(
        /^The services' roles got no rights.* "create role managed_ingress nologin; .*", then run this again\. .*\n$/,
      );
      expect(out).toMatch(/^(Applied \d{4}_\w+ to the schema managed\.\n)+$/);
      expect(code).toBe(0);
    } finally {
      await withConnection(database.url, (client) =>
        client.query(`drop owned by ${url.username}; drop role ${url.username}`),
      );
    }
  });

  test('a server that is not there is a sentence, not a stack', () => {
    const { code, err } = migrate({
      DATABASE_URL: 'postgresql://somebody:hidden@127.0.0.1:1/paddock',
    });
    expect(code).toBe(1);
    expect(err).toBe(
      'PostgreSQL cannot be reached: connect ECONNREFUSED 127.0.0.1:1. Check DATABASE_URL, and that the server runs.\n',
    );
  });

  test('a server that does not answer is a sentence too, and is not waited for without end', async () => {
    // Connections to it succeed, and nothing follows.
    const silent = createServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { code, err } = migrate(
      {
        DATABASE_URL: `postgresql://x@127.0.0.1:${(silent.address() as AddressInfo).port}/paddock`,
      },
      '--print',
    );
    silent.close();
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('nothing answered in time'),
    });
  });

  test('wrong settings are all told at once, and no secret with them (H1)', () => {
    const { code, err } = migrate({
      DATABASE_URL: 'mysql://somebody:hidden@host/db',
      PADDOCK_SCHEMA: 'Prod',
    });
    expect(code).toBe(1);
    expect(err.split('\n')).toHaveLength(4);
    expect(err).toContain('PADDOCK_SCHEMA');
    expect(err).toContain('DATABASE_URL');
    expect(err).not.toContain('hidden');
  });
});
