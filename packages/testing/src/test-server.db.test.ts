import { describe, expect, test } from '@jest/globals';
import { urlOfDatabase, withConnection } from './server-connection.ts';
import { startTestServer } from './test-server.ts';

const SERVER = process.env['PADDOCK_TEST_SERVER_URL'] ?? '';

describe('startTestServer on the server in TEST_DATABASE_URL', () => {
  test('migrates a template that accepts no sessions, drops it in the end and does not stop the server', async () => {
    const { url, template, stop } = await startTestServer({ TEST_DATABASE_URL: SERVER });
    expect(url).toBe(SERVER);
    await expect(
      withConnection(urlOfDatabase(url, template), () => Promise.resolve()),
    ).rejects.toMatchObject({ code: '55000' });
    await stop();
    const left = await withConnection(SERVER, (client) =>
      client.query('select from pg_database where datname = $1', [template]),
    );
    expect(left.rowCount).toBe(0);
  });

  test('names the variable, but not its password, when no server answers', async () => {
    const start = startTestServer({
      TEST_DATABASE_URL: 'postgresql://me:hunter2@127.0.0.1:9/none',
    });
    await expect(start).rejects.toThrow(/^(?!.*hunter2).*TEST_DATABASE_URL/);
  });
});

/**
 * Only a superuser can take on any role. The role used here, pg_monitor, may not create databases.
 */
const asSuperuser = (await isSuperuser()) ? describe : describe.skip;

asSuperuser('startTestServer', () => {
  test('refuses a role that may not create databases, and says what it needs', async () => {
    const url = new URL(SERVER);
    url.searchParams.set('options', '-c role=pg_monitor');
    await expect(startTestServer({ TEST_DATABASE_URL: url.href })).rejects.toThrow(
      'may not create databases',
    );
  });
});

async function isSuperuser(): Promise<boolean> {
  return withConnection(SERVER, async (client) => {
    const { rows } = await client.query<{ rolsuper: boolean }>(
      'select rolsuper from pg_roles where rolname = current_user',
    );
    return rows[0]?.rolsuper === true;
  });
}
