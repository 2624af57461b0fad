import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  countOperationsEndpoint,
  listOperationsEndpoint,
} from '@paddock/api/operations/list-operations';
import { resyncInstallationEndpoint } from '@paddock/api/installations/installations';
import { findOperationEndpoint } from '@paddock/api/operations/operation';
import { resyncRepositoryEndpoint } from '@paddock/api/repositories/resync';
import { ask } from '@paddock/api/scenes/ask.scene';
import { runSweepEndpoint } from '@paddock/api/sweeps/run-sweep';
import { makeToken, useConsole } from '@paddock/console/scenes/console.scene';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { useSweeps } from '@paddock/reconciler/scenes/use-scenes.scene';
import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { examplePools, putInstallation, putPools } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';

const { database, service } = useConsole();
const sweeps = useSweeps(database);

beforeEach(async () => {
  const { db } = database;
  const { appId, organization } = sweeps.scene.world;
  await sql`truncate actions`.execute(db);
  await putPools(db, examplePools());
  await putInstallation(db, installationOf(organization));
  await db
    .insertInto('schedules')
    .values({ name: `redeliver:${appId}`, last_tick_at: new Date() })
    .execute();
});

const find = (operation: string) => ask(findOperationEndpoint, database.db, { operation });

/** Runs what is due, as the reconciler does. Returns what people see as each run begins. */
async function run() {
  const seen: Awaited<ReturnType<typeof find>>[] = [];
  const kinds = Object.fromEntries(
    Object.entries(sweeps.kinds).map(([name, { slots, handler }]) => [
      name,
      {
        slots,
        handler: async (...given: Parameters<typeof handler>) => {
          seen.push(await find(given[0].id));
          return handler(...given);
        },
      },
    ]),
  );
  await runDueTasks({ db: database.dbOf('reconciler'), kinds });
  return seen;
}

describe('the reconciler does what people ask the console for (F1, F5)', () => {
  test('a resync finds a job whose delivery got lost, and its operation answers all along', async () => {
    const { id: jobId } = await sweeps.scene.world.github.queueJob({
      repo: 'acme/api',
      labels: ['linux'],
    });
    const input = { owner: 'acme', repository: 'api', note: 'it does not start' };
    const asked = await ask(resyncRepositoryEndpoint, database.db, input);
    expect(await find(asked.id)).toMatchObject({ status: 'QUEUED', startedAt: null });
    const [running] = await run();
    expect(running).toMatchObject({
      id: asked.id,
      status: 'RUNNING',
      startedAt: expect.any(String),
    });
    expect(await find(asked.id)).toMatchObject({
      status: 'OK',
      origin: 'MANUAL',
      requestedBy: 'ada',
      askers: [{ person: 'ada', note: 'it does not start' }],
      output: { runs: 1, found: 1, isComplete: true },
    });
    const jobs = await database.db.selectFrom('jobs').select('job_id').execute();
    expect(jobs).toEqual([{ job_id: jobId }]);
    const again = await ask(resyncRepositoryEndpoint, database.db, input);
    const list = await ask(listOperationsEndpoint, database.db, { subject: 'repository:acme/api' });
    expect(list.items.map(({ id, status }) => [id, status])).toEqual([
      [again.id, 'QUEUED'],
      [asked.id, 'OK'],
    ]);
  });

  test('a token for one repository starts its resync over HTTP, follows it to its end, and does nothing else (F7)', async () => {
    await sweeps.scene.world.github.queueJob({ repo: 'acme/api', labels: ['linux'] });
    const subject = { owner: 'acme', repository: 'api' };
    const narrowed = { endpoint: 'resyncRepository', subject };
    const token = await makeToken(database, { name: 'api-team', ...narrowed });
    const other = await makeToken(database, { name: 'other', access: 'operate' });
    const post = (path: string, asker = token) => service.ask(path, asker, { method: 'POST' });
    // Somebody else asks first: the operation is theirs, and it serves the token too.
    await post('repositories/acme/api/resync', other);
    const started = await post('repositories/ACME/api/resync');
    expect(started.status).toBe(202);
    const place = new URL(started.headers.get('location') ?? '', started.url);
    const follow = async () =>
      (await service.ask(place.pathname.slice('/api/v1/'.length), token)).json();
    expect(await follow()).toMatchObject({
      status: 'QUEUED',
      requestedBy: 'token other',
      askers: [{ person: 'token other' }, { person: 'token api-team' }],
    });
    await run();
    expect(await follow()).toMatchObject({ status: 'OK', output: { found: 1 } });
    const theirs = await post('repositories/acme/shop/resync', other);
    const { id } = (await theirs.json()) as { id: string };
    for (const path of [`operations/${id}`, 'operations?subject=repository:acme/api', 'switches'])
      expect([path, (await service.ask(path, token)).status]).toEqual([path, 401]);
    for (const path of ['repositories/acme/shop/resync', 'sweeps/check-apps/run'])
      expect([path, (await post(path)).status]).toEqual([path, 401]);
  });

  test('a resync of an installation has its active repositories resynced, each once', async () => {
    await sweeps.scene.world.github.queueJob({ repo: 'acme/api', labels: ['linux'] });
    await database.db
      .insertInto('repositories')
      .values({
        repo_id: sweeps.scene.world.repositories.api,
        entity_id: sweeps.scene.world.organization.id,
        app_id: sweeps.scene.world.appId,
        active_at: new Date(),
      })
      .execute();
    const installation = String(sweeps.scene.world.organization.installationId);
    const { id } = await ask(resyncInstallationEndpoint, database.db, { installation });
    await run();
    expect(await find(id)).toMatchObject({ status: 'OK', output: { active: 1 } });
    expect(await database.db.selectFrom('jobs').select('job_id').execute()).toHaveLength(1);
  });

  test('a resync that cannot be done ends as an error with its reason', async () => {
    const input = { owner: 'acme', repository: 'nothing' };
    const { id } = await ask(resyncRepositoryEndpoint, database.db, input);
    await run();
    expect(await find(id)).toMatchObject({
      status: 'ERROR',
      failure: { reason: 'poison', message: expect.stringContaining('does not show acme/nothing') },
    });
  });

  test('deliveries since an instant that our events lack are requested (E1)', async () => {
    await sweeps.scene.queueJobs(2, {});
    const app = String(sweeps.scene.world.appId);
    const { id } = await ask(runSweepEndpoint, database.db, {
      sweep: 'redeliver',
      app,
      since: '-1h',
    });
    await run();
    expect(await find(id)).toMatchObject({ status: 'OK', output: { missing: 2, more: false } });
    expect(sweeps.scene.receiver.received.length).toBeGreaterThan(2);
  });

  test('a sweep runs now, and its counts are the output, dry or not', async () => {
    const { id } = await ask(runSweepEndpoint, database.db, { sweep: 'upkeep' });
    const dry = await ask(runSweepEndpoint, database.db, {
      sweep: 'delete-ended-pods',
      dryRun: true,
    });
    await run();
    expect(await find(id)).toMatchObject({ status: 'OK', output: { waitReasons: { removed: 0 } } });
    expect(await find(dry.id)).toMatchObject({
      status: 'OK',
      output: { dryRun: true, deleted: 0 },
    });
  });

  test('an expired operation is not found, and the counts have it (F2, F3)', async () => {
    const { id } = await ask(runSweepEndpoint, database.db, { sweep: 'upkeep' });
    await run();
    await sql`update operations set expires_at = now() - interval '1 second'`.execute(database.db);
    await expect(find(id)).rejects.toMatchObject({ status: 404 });
    await ask(runSweepEndpoint, database.db, { sweep: 'upkeep' });
    await run();
    await expect(find(id)).rejects.toMatchObject({ status: 404 });
    const { items } = await ask(countOperationsEndpoint, database.db, { from: '-1h' });
    expect(items).toContainEqual(
      expect.objectContaining({ kind: 'upkeep', outcome: 'OK', ended: 2 }),
    );
  });
});
