import { describe, expect, test } from '@jest/globals';
import { startPoolingProxy } from '@paddock/testing/pooling-proxy';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { withConnection } from '@paddock/testing/server-connection';
import { clientConfig } from './connection/connect.ts';
import { SERVICES } from './connection/schema-name.ts';
import { whyPooled } from './connection/readiness.ts';
import { foreignEngine, proveMechanisms } from './prove-mechanisms.ts';

const database = useTestDatabase();
const configOf = (url: string) =>
  clientConfig({ url, schema: database.schema, applicationName: 'doctor' });

describe('what Paddock rests on, tried with two connections (H1)', () => {
  test.each(SERVICES)('works, as far as the login of the %s may try it', async (service) => {
    const trial = await proveMechanisms(configOf(database.urlOf(service)));
    expect(trial).toMatchObject({ failed: [], foreign: undefined });
    // The console writes no row that is always there.
    expect(trial.untried).toHaveLength(service === 'console' ? 1 : 0);
  });

  test('leaves nothing behind', async () => {
    const rows = await withConnection(database.url, async (client) => {
      const tables = await client.query("select from pg_class where relname = 'paddock_doctor'");
      const locks = await client.query(
        "select from pg_locks join pg_database d on d.oid = database where locktype = 'advisory' and datname = current_database()",
      );
      return [tables.rowCount, locks.rowCount];
    });
    expect(rows).toEqual([0, 0]);
  });

  test('fails behind a proxy that gives each transaction another session, which is named (A11)', async () => {
    const proxy = await startPoolingProxy(database.url, database.schema);
    expect(await whyPooled(configOf(proxy.url), database.schema)).toMatch(
      /^a transaction-pooling proxy/,
    );
    const { failed } = await proveMechanisms(configOf(proxy.url));
    expect(failed).toEqual([expect.stringMatching(/a notification .* arrives/)]);
    await proxy.stop();
  });
});

test.each([
  ['PostgreSQL 17.5 (Debian 17.5-1.pgdg120+1) on x86_64-pc-linux-gnu, compiled by gcc', undefined],
  ['PostgreSQL 16.9 on aarch64-unknown-linux-gnu, compiled by aarch64-gcc', undefined],
  ['PostgreSQL 18beta1 on x86_64-pc-linux-musl', undefined],
  ['PostgreSQL 15.12-YB-2025.1.0.1-b3 on x86_64', 'PostgreSQL 15.12-YB-2025.1.0.1-b3 on x86_64'],
  [
    'CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu)',
    'CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu)',
  ],
])('%s calls itself %s (A11)', (version, name) => {
  expect(foreignEngine(version)).toBe(name);
});
