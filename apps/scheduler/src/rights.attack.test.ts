import { expect, test } from '@jest/globals';
import { sqlStateOf } from '@paddock/db/connection/errors';
import { createTestDatabase } from '@paddock/testing/database';
import { sql } from 'kysely';

test.each([
  ['changes the pools in force in silence', `update pools_documents set content = '{}'`],
  ['removes the pools of before', `delete from pools_documents`],
  ['rewrites deliveries', `update installation_events set outcome = 'ok'`],
  ['forgets deliveries', `delete from installation_events`],
  ['forgets jobs', `delete from jobs`],
  ['forgets workers', `delete from workers`],
  ['lifts a switch', `delete from switches`],
  ['gives a login to another entity', `update login_pins set entity_id = 1`],
  ['takes another service’s role', `set role paddock_reconciler`],
])('a client with the connection of the scheduler never %s', async (_what, statement) => {
  const database = await createTestDatabase();
  const failure = await sql
    .raw(statement)
    .execute(database.dbOf('scheduler'))
    .then(() => 'allowed', sqlStateOf);
  await database.drop();
  expect(failure).toBe('42501');
});
