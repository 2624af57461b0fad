import { afterEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { clientConfig, connectDatabase, type DatabaseConnection } from './connect.ts';
import { createFitness } from './wait-until-fit.ts';

const database = useTestDatabase();
const opened: DatabaseConnection[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ close }) => close()));
  await sql`alter database ${name()} reset all`.execute(database.db);
});

const name = () => sql.id(new URL(database.url).pathname.slice(1));
const setForAll = (setting: string, value: string) =>
  sql`alter database ${name()} set ${sql.id(setting)} = ${sql.lit(value)}`.execute(database.db);
const place = (parameters = '') => ({
  url: `${database.url}${parameters}`,
  schema: database.schema,
  applicationName: 'session',
});
function open(parameters?: string) {
  const connection = connectDatabase({ ...place(parameters), poolSize: 1 });
  opened.push(connection);
  return connection.db;
}
const inForce = async (setting: string, parameters?: string) =>
  (
    await sql<{ value: string }>`select current_setting(${setting}, true) as value`.execute(
      open(parameters),
    )
  ).rows[0]?.value;

describe('a session has the settings that our statements need, with any settings of role and database (A11)', () => {
  test.each([
    ['synchronous_commit', 'off', 'on'],
    ['default_transaction_isolation', 'serializable', 'read committed'],
    ['DateStyle', 'German, DMY', 'ISO, MDY'],
    ['IntervalStyle', 'sql_standard', 'postgres'],
    ['TimeZone', 'Asia/Tokyo', 'UTC'],
    ['bytea_output', 'escape', 'hex'],
    ['extra_float_digits', '-5', '1'],
    ['standard_conforming_strings', 'off', 'on'],
    ['search_path', 'pg_catalog', 'paddock'],
    ['statement_timeout', '5', '30s'],
    ['idle_session_timeout', '50', '0'],
  ])('%s = %s becomes %s', async (setting, value, expected) => {
    await setForAll(setting, value);
    expect(await inForce(setting)).toBe(expected);
  });

  test.each(['remote_apply', 'remote_write', 'local', 'on'])(
    'synchronous_commit = %s stays: a commit waits for a disk',
    async (value) => {
      await setForAll('synchronous_commit', value);
      expect(await inForce('synchronous_commit')).toBe(value);
    },
  );

  test('triggers that do not fire cannot be helped by us, and keep a service from being ready', async () => {
    await setForAll('session_replication_role', 'replica');
    const whyNotReady = createFitness({
      db: open(),
      schema: database.schema,
      config: clientConfig(place()),
    });
    // A busy machine may not answer in time; that is logged as well, and passes.
    const why = /^PostgreSQL cannot be asked: session_replication_role is replica.*reset/;
    expect(await waitFor('the reason', async () => why.test((await whyNotReady()) ?? ''))).toBe(
      true,
    );
  });
});
