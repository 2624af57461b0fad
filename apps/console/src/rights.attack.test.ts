import { beforeAll, describe, expect, test } from '@jest/globals';
import { sqlStateOf } from '@paddock/db/connection/errors';
import type { Database } from '@paddock/db/schema/tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { type Kysely, sql } from 'kysely';

const DENIED = '42501';

/** An attacker who has taken the console over has its connection to the database. */
describe('with the connection of the console (A10)', () => {
  const database = useTestDatabase();
  let own: Kysely<Database>;

  beforeAll(() => {
    own = database.dbOf('console');
  });

  test.each([
    [
      'puts pools of their own in force',
      `insert into pools_documents (digest, content) values ('x', '{}')`,
    ],
    ['makes a worker', `insert into workers (pod_name, k8s_image) values ('pdk-evil', 'evil:1')`],
    ['gives a worker another image', `update workers set k8s_image = 'evil:1'`],
    ['ends a worker', `update workers set status = 'failed', completed_at = now()`],
    ['gives a worker a job', `update workers set assigned_job_id = 1`],
    ['ends a job', `update jobs set status = 'completed'`],
    ['forgets jobs', `delete from jobs`],
    ['forgets deliveries', `delete from installation_events`],
    ['makes up a delivery', `insert into installation_events (event) values ('x')`],
    ['changes an installation', `update installations set suspended_at = null`],
    ['takes a task for itself', `update tasks set status = 'running', locked_by = 'x'`],
    ['turns a task into another', `update tasks set kind = 'x', subject_id = 'x'`],
    ['makes a failed operation good', `update operations set status = 'OK', failure_reason = null`],
    ['forgets an operation', `delete from operations`],
    ['ends a task', `delete from tasks`],
    ['holds a lease', `update leases set holder = 'x'`],
    ['lets a failing key go on', `update demand_keys set failures = 0`],
    ['ends an outage', `delete from outages`],
    ['gives a login to another entity', `update login_pins set entity_id = 1`],
    ['lets a token do more', `update tokens set access = 'operate', endpoint = null`],
    ['gives a token another secret', `update tokens set secret_sha256 = '${'0'.repeat(64)}'`],
    ['forgets who made a token', `update tokens set created_by = 'x'`],
    ['forgets a token', `delete from tokens`],
    ['forgets what people did', `delete from actions`],
    ['changes what people did', `update actions set person = 'x'`],
    ['says that another set a switch', `update switches set switched_by = 'x'`],
    ['passes for a newer schema', `insert into schema_migration values ('9999_x', 'x')`],
    [
      'adds a trigger',
      `create trigger mine before insert on tokens for each row execute function touch_row()`,
    ],
    ['takes another service’s role', `set role paddock_scheduler`],
  ])('a client never %s', async (_what, statement) => {
    expect(
      await sql
        .raw(statement)
        .execute(own)
        .then(() => 'allowed', sqlStateOf),
    ).toBe(DENIED);
  });
});
