import { beforeEach, describe, expect, test } from '@jest/globals';
import { recordRefusal } from '@paddock/db/entities/refusals';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { kindsOf } from '../sweep.ts';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';

const database = useTestDatabase();
const scene = useDiscoveryScene(database);

const LIMIT = { status: 429, headers: { 'retry-after': '600' } };
const endWaits = () =>
  sql`update installations set wait_until = null, core_wait_until = null`.execute(database.db);
/** Whether GitHub's silence about these jobs has begun. */
const asked = async (...jobIds: number[]) =>
  (
    await database.db
      .selectFrom('jobs')
      .select('unanswered_since')
      .where('job_id', 'in', jobIds)
      .execute()
  ).map((job) => job.unanswered_since !== null);
const against = async () => (await scene.world.github.report()).callsAgainstWait;
const calls = async () =>
  Object.values((await scene.world.github.report()).calls).reduce((sum, count) => sum + count, 0);

describe('an entity that GitHub asks to leave alone', () => {
  beforeEach(async () => {
    for (const repo of ['acme/api', 'acme/api', 'mona/tool']) await scene.queue(repo);
  });

  test('is passed over by discovery, others are not, and it has its turn at once when that is over (E2)', async () => {
    await scene.world.github.failNext({ path: '/acme/', ...LIMIT });
    expect(await scene.discover()).toMatchObject({ listed: 2, found: 1 });
    const before = await scene.calls('actions/list-workflow-runs-for-repo');
    await scene.passMinutes(10);
    expect(await scene.discover()).toMatchObject({ repositories: 1, unanswered: 0 });
    expect(await scene.calls('actions/list-workflow-runs-for-repo')).toBe(before + 5);
    expect([scene.unanswered, await against()]).toEqual([[], 0]);
    await endWaits();
    expect(await scene.discover()).toMatchObject({ found: 2, unanswered: 0 });
  });

  test('is passed over by look-ups, whose jobs stay due (E4)', async () => {
    const [first, second, other] = [
      await scene.addJob(),
      await scene.addJob({ job: { repo: 'acme/api' } }),
      await scene.addJob({ job: { repo: 'mona/tool' } }),
    ];
    await scene.world.github.failNext({ path: '/acme/', ...LIMIT });
    expect(await scene.lookUp()).toMatchObject({ runs: 1, unanswered: 2 });
    expect((await scene.row(other)).looked_up_at).not.toBeNull();
    expect(await scene.lookUp()).toMatchObject({ jobs: 0 });
    // Before the waits end here: GitHub's own goes on.
    expect([scene.unanswered, await against()]).toEqual([[], 0]);
    await endWaits();
    expect(await asked(first, second)).toEqual([false, false]);
    expect(await scene.lookUp()).toMatchObject({ runs: 2, unanswered: 0 });
  });

  test('is resynced when GitHub names, without a failed attempt (F5)', async () => {
    const pass = () => scene.resync('acme/api');
    const kinds = kindsOf(
      { db: database.dbOf('reconciler'), isAway: () => Promise.resolve(false) },
      { 'discover-jobs': { slots: 1, pass } },
    );
    const subject = { type: 'repository', id: 'acme/api' };
    await enqueueAlone(database.db, [{ kind: 'discover-jobs', subject }]);
    const run = () =>
      runDueTasks({ db: database.dbOf('reconciler'), kinds, holder: 'test', random: () => 0.5 });
    const tasks = () => database.db.selectFrom('tasks').select(['attempt', 'due_at']).execute();
    await scene.world.github.failNext({ path: '/acme/', ...LIMIT });
    for (let turn = 0; turn < 7; turn += 1) {
      await run();
      await database.db
        .updateTable('tasks')
        .set({ due_at: new Date(0) })
        .execute();
    }
    expect([await tasks(), await against()]).toMatchObject([[{ attempt: 0 }], 0]);
    await run();
    const [task] = await tasks();
    expect((task?.due_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(500_000);
    await endWaits();
    await database.db
      .updateTable('tasks')
      .set({ due_at: new Date(0) })
      .execute();
    await run();
    expect(await tasks()).toEqual([]);
    expect(await scene.jobIds()).toHaveLength(2);
  });
});

describe('a look that makes no call of GitHub', () => {
  test('ends no refusal: its budget was used up (C9)', async () => {
    await scene.queue('acme/api');
    await scene.discover();
    await scene.passMinutes(10);
    const { id: entityId, appId, installationId } = scene.world.organization;
    const [repository] = await database.db.selectFrom('repositories').selectAll().execute();
    const repoId = repository?.repo_id ?? 0;
    const call = {
      appId,
      installationId,
      entityId,
      entityType: 'Organization' as const,
      login: 'acme',
      repoId,
    };
    const refusal = {
      kind: 'forbidden',
      operation: 'GET /repos/acme/api',
      status: 403,
      message: 'no',
    };
    await recordRefusal(database.dbOf('reconciler'), 'reconciler', { call, refusal });
    await sql`update repositories set refused_until = now()`.execute(database.db);
    const before = await calls();
    await scene.discover({ budgetPercent: 0 });
    expect(await calls()).toBe(before);
    const refused = database.db.selectFrom('repositories').where('refused_since', 'is not', null);
    expect(await refused.select('repo_id').execute()).toEqual([{ repo_id: repoId }]);
  });
});

test('a statement that fails is no silence of GitHub’s: the look-up ends with it', async () => {
  const job = await scene.addJob();
  await scene.world.github.selectRepositories(scene.world.organization.installationId, []);
  await sql`alter table installation_events add constraint full_disk check (job_id <> ${sql.lit(job)})`.execute(
    database.db,
  );
  try {
    await expect(scene.lookUp()).rejects.toThrow('full_disk');
    expect(scene.unanswered).toEqual(['invisible']);
  } finally {
    await sql`alter table installation_events drop constraint full_disk`.execute(database.db);
  }
});
