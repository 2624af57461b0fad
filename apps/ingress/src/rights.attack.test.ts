import { beforeAll, describe, expect, test } from '@jest/globals';
import { sqlStateOf } from '@paddock/db/connection/errors';
import { putInstallation, putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';

const DENIED = '42501';

/** An attacker who has taken ingress over has its connection to the database, and nothing else. */
describe('with the connection of ingress', () => {
  const database = useTestDatabase();
  beforeAll(() => putPools(database.db));

  const failure = (statement: string) =>
    sql
      .raw(statement)
      .execute(database.dbOf('ingress'))
      .then(() => 'allowed', sqlStateOf);

  test.each([
    [
      'puts pools of their own in force',
      `insert into pools_documents (digest, content) values ('x', '{}')`,
    ],
    [
      'changes the pools in force',
      `update pools_documents set content = jsonb_set(content, '{pools,0,image}', '"evil:1"')`,
    ],
    ['takes the pools away', `delete from pools_documents`],
    ['makes a worker', `insert into workers (pod_name, k8s_image) values ('pdk-evil', 'evil:1')`],
    ['gives a worker another image', `update workers set k8s_image = 'evil:1'`],
    ['sends a worker elsewhere', `update workers set namespace = 'kube-system'`],
    ['ends a worker', `update workers set status = 'failed', completed_at = now()`],
    ['asks for a worker’s stop', `update workers set stopping_at = now()`],
    ['removes workers', `delete from workers`],
    [
      'gives the services work',
      `insert into tasks (kind, subject_type, subject_id) values ('stop-worker', 'worker', 'pdk-1')`,
    ],
    ['holds their work up', `update tasks set due_at = now() + interval '1 year'`],
    ['reads their work', `select payload from tasks`],
    ['reads what became of it', `select failure_message from operations`],
    [
      'stops the making of workers',
      `insert into switches (subject_type, subject_id, switched_by) values ('pool', 'linux', 'x')`,
    ],
    ['lifts a switch', `delete from switches`],
    [
      'makes a key fail',
      `insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned) values (1, 1, '', 0, '', 0, 0)`,
    ],
    ['forgets a key', `delete from demand_keys`],
    ['changes what a key waits for', `update demand_keys set wait_reason = 'x'`],
    [
      'holds a lease',
      `insert into leases (name, holder, fence, expires_at) values ('probe', 'x', 1, now())`,
    ],
    ['forgets jobs', `delete from jobs`],
    ['forgets deliveries', `delete from installation_events`],
    ['rewrites deliveries', `update installation_events set outcome = 'ok'`],
    ['reads why runners failed', `select failure_info from workers`],
    ['gives a login to another entity', `update login_pins set entity_id = 1`],
    ['moves the schedules’ ticks', `update schedules set last_tick_at = now() + interval '1 year'`],
    ['passes for a newer schema', `insert into schema_migration values ('9999_x', 'x')`],
    [
      'adds a trigger',
      `create trigger mine before insert on jobs for each row execute function touch_row()`,
    ],
    ['takes another service’s role', `set role paddock_scheduler`],
  ])('a client never %s', async (_what, statement) => {
    expect(await failure(statement)).toBe(DENIED);
  });

  test('ingress may say which job a worker runs, for that is its work', async () => {
    const { pod_name: podName } = await putWorker(database.db);
    const { job_id: jobId } = await putJob(database.db);
    await database
      .dbOf('ingress')
      .updateTable('workers')
      .set({ assigned_job_id: jobId, assigned_at: new Date() })
      .where('pod_name', '=', podName)
      .execute();
    expect(await database.db.selectFrom('workers').select('assigned_job_id').execute()).toEqual([
      { assigned_job_id: jobId },
    ]);
  });

  test('an installation that works again ends what GitHub refused at its repositories, and no table of theirs gets into the way', async () => {
    await putInstallation(database.db, {
      entity_id: 7,
      app_id: 1,
      installation_id: 2,
      stated_at: new Date(0),
      suspended_at: new Date(0),
    });
    const refused = {
      refused_since: new Date(0),
      refused_until: new Date(),
      refused_message: 'no',
    };
    await database.db
      .insertInto('repositories')
      .values({ repo_id: 1, entity_id: 7, app_id: 1, active_at: new Date(0), ...refused })
      .execute();
    await database
      .dbOf('ingress')
      .connection()
      .execute(async (session) => {
        // What a function with the owner's rights would read or write, and run the triggers of, if it
        // looked for our tables here first.
        await sql`create temporary table repositories (repo_id bigint, entity_id bigint, refused_since timestamptz)`.execute(
          session,
        );
        await session
          .updateTable('installations')
          .set({ suspended_at: null, updated_at: new Date() })
          .where('entity_id', '=', 7)
          .execute();
        await sql`discard temp`.execute(session);
      });
    expect(
      await database.db
        .selectFrom('repositories')
        .select(['refused_since', 'refused_message'])
        .execute(),
    ).toEqual([{ refused_since: null, refused_message: null }]);
  });
});
