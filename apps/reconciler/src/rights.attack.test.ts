import { expect, test } from '@jest/globals';
import { sqlStateOf } from '@paddock/db/connection/errors';
import { createTestDatabase } from '@paddock/testing/database';
import { sql } from 'kysely';

test.each([
  [
    'puts pools of their own in force',
    `insert into pools_documents (digest, content) values ('x', '{}')`,
  ],
  ['changes the pools in force', `update pools_documents set content = '{}'`],
  ['makes a worker', `insert into workers (pod_name, k8s_image) values ('pdk-evil', 'evil:1')`],
  ['forgets workers', `delete from workers`],
  ['rewrites deliveries', `update installation_events set outcome = 'ok'`],
  ['lifts a switch', `delete from switches`],
  ['takes over a lease', `update leases set holder = 'x'`],
  ['gives a login to another entity', `update login_pins set entity_id = 1`],
  ['takes another service’s role', `set role paddock_scheduler`],
])('a client with the connection of the reconciler never %s', async (_what, statement) => {
  const database = await createTestDatabase();
  const failure = await sql
    .raw(statement)
    .execute(database.dbOf('reconciler'))
    .then(() => 'allowed', sqlStateOf);
  await database.drop();
  expect(failure).toBe('42501');
});
