import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { putInstallation } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  ACME,
  isKnown,
  startStrayScene,
  type StrayScene,
  TOOL,
} from '../scenes/stray-registrations.scene.ts';

const database = useTestDatabase();
let scene: StrayScene;

beforeEach(async () => {
  scene = await startStrayScene(database);
});
afterEach(() => scene.stop());

const NOTHING = { strays: 0, online: 0, removed: 0, secrets: 0, left: 0, failed: 0, overCap: 0 };

describe('registrations with our names and without a worker (E6)', () => {
  test.each([
    ['an organisation', ACME],
    ['a repository', TOOL],
  ])(
    'of %s go when they were offline in two lists and for longer than the grace',
    async (_name, scope) => {
      await scene.knowScope(scope);
      const { name } = await scene.register(scope);
      expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1, strays: 1 });
      expect(await scene.sweep()).toMatchObject({ strays: 1, removed: 0 });
      await scene.passHours();
      expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1, strays: 1, removed: 1 });
      expect(await scene.runners()).toEqual([]);
      expect(scene.told).toEqual([`removed ${name}`]);
      expect(await scene.sightings()).toEqual([]);
    },
  );

  test('are seen in successive lists: one that was away in between begins again', async () => {
    await scene.knowScope(ACME);
    const { name, jitConfig } = await scene.register();
    await scene.sweep();
    await scene.passHours();
    const stop = new AbortController();
    const playing = playRunner(jitConfig, stop.signal);
    await waitFor('the runner to be online', async () =>
      (await scene.world.github.truth()).runners.some(({ state }) => state === 'idle'),
    );
    expect(await scene.sweep()).toMatchObject({ strays: 0, online: 1 });
    expect(await scene.sightings()).toEqual([]);
    stop.abort();
    await playing;
    await waitFor('the runner to be offline', async () =>
      (await scene.world.github.truth()).runners.some(({ state }) => state === 'offline'),
    );
    expect(await scene.sweep()).toMatchObject({ strays: 1, removed: 0 });
    expect(await scene.runners()).toEqual([name]);
  });

  test('that cannot be noted are no silence of GitHub’s: the pass ends with the statement that failed', async () => {
    await scene.knowScope(ACME);
    await scene.register();
    await sql`alter table stray_registrations add constraint full_disk check (name = '') not valid`.execute(
      database.db,
    );
    try {
      await expect(scene.sweep()).rejects.toThrow('full_disk');
      expect(scene.told).toEqual([]);
    } finally {
      await sql`alter table stray_registrations drop constraint full_disk`.execute(database.db);
    }
  });

  test('are left alone once there is a worker of their name that may need them', async () => {
    await scene.knowScope(ACME);
    const { name } = await scene.register();
    await scene.sweep();
    await scene.passHours();
    await scene.knowScope(ACME, { podName: name, status: 'running' });
    expect(await scene.sweep()).toMatchObject({ strays: 0, removed: 0 });
    expect(await scene.runners()).toEqual([name]);
  });

  test('are looked at once more before they go: not one whose worker or whose runner has come back since the list', async () => {
    await scene.knowScope(ACME);
    const [adopted, online] = [await scene.register(), await scene.register()];
    await scene.sweep();
    await scene.passHours();
    const stop = new AbortController();
    let playing: Promise<unknown> = Promise.resolve();
    const comeBack = async () => {
      if (await isKnown(database.db, adopted.name)) return;
      await scene.knowScope(ACME, { podName: adopted.name, status: 'running' });
      playing = playRunner(online.jitConfig, stop.signal);
      await waitFor('the runner to be online', async () =>
        (await scene.world.github.truth()).runners.some(({ state }) => state === 'idle'),
      );
    };
    const slow: StrayScene['github'] = {
      ...scene.github,
      asInstallation: (...given) => {
        const client = scene.github.asInstallation(...given);
        client.octokit.hook.before('request', ({ url }) =>
          url.endsWith('/actions/runners/{runner_id}') ? comeBack() : undefined,
        );
        return client;
      },
    };
    expect(await scene.sweep({ github: slow })).toMatchObject({ strays: 2, removed: 0, left: 2 });
    expect(await scene.runners()).toEqual([adopted.name, online.name].toSorted());
    stop.abort();
    await playing;
  });

  test('that a worker left who ended well, or was thought to be rid of them, go as well', async () => {
    const completed = await scene.knowScope(ACME);
    const failed = await scene.knowScope(ACME);
    await database.db
      .updateTable('workers')
      .set({ status: 'failed' })
      .where('pod_name', '=', failed.pod_name)
      .execute();
    for (const { pod_name: name } of [completed, failed]) await scene.register(ACME, name);
    expect(await scene.sweep()).toMatchObject({ strays: 1 });
    await database.db.updateTable('workers').set({ registration_gone_at: new Date() }).execute();
    expect(await scene.sweep()).toMatchObject({ strays: 2 });
  });

  test('of another instance, and foreign runners, are not looked at (A8)', async () => {
    await scene.knowScope(ACME);
    const names = [
      (await scene.register(ACME, 'pdk-zzzzzz-linux-000000000001')).name,
      (await scene.register(ACME, 'build-box')).name,
    ];
    expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1 });
    expect(await scene.runners()).toEqual(names.toSorted());
  });

  test('cost one list per scope for which a worker was made lately, none for an entity without an installation', async () => {
    for (let nth = 0; nth < 3; nth++) await scene.knowScope(ACME);
    await scene.knowScope(TOOL);
    expect(await scene.sweep()).toMatchObject({ listed: 2 });
    const { calls } = await scene.world.github.report();
    expect(calls['actions/list-self-hosted-runners-for-org']).toBe(1);
    expect(calls['actions/list-self-hosted-runners-for-repo']).toBe(1);
    await database.db
      .updateTable('workers')
      .set({ created_at: minutesAgo(3_000) })
      .where('entity_id', '=', scene.world.user.id)
      .execute();
    const known = installationOf(scene.world.organization);
    await putInstallation(database.db, { ...known, deleted_at: new Date() });
    expect(await scene.sweep()).toMatchObject({ listed: 0 });
  });

  test('are only counted by a dry run', async () => {
    await scene.knowScope(ACME);
    await scene.register();
    await scene.sweep();
    await scene.passHours();
    expect(await scene.sweep({ dryRun: true })).toMatchObject({ strays: 1, removed: 1 });
    expect(await scene.sightings()).toEqual([1]);
    expect(await scene.runners()).toHaveLength(1);
  });
});

/** A registration that the next pass removes. */
async function oneDue(): Promise<void> {
  await scene.knowScope(ACME);
  await scene.register();
  await scene.sweep();
  await scene.passHours();
}

describe('remove-stray-registrations does nothing', () => {
  test('when a list fails; other entities go on, and the refusal is written down once (C9)', async () => {
    await oneDue();
    await scene.knowScope(TOOL);
    const { appId, organization } = scene.world;
    await putInstallation(database.db, {
      entity_id: organization.id,
      app_id: appId,
      installation_id: organization.installationId,
    });
    await scene.world.github.failNext({ path: '/orgs/acme/actions/runners', status: 403 });
    expect(await scene.sweep()).toMatchObject({ listed: 1, failed: 1, removed: 0 });
    expect(scene.told).toEqual(['acme: forbidden']);
    expect(await scene.sightings()).toEqual([1]);
    expect(await scene.runners()).toHaveLength(1);
    const events = await database.db
      .selectFrom('installation_events')
      .select(['event', 'entity_id'])
      .execute();
    expect(events).toEqual([
      { event: 'auth_attempt.other_error', entity_id: scene.world.organization.id },
    ]);
    expect(await scene.sweep()).toMatchObject({ listed: 1, failed: 0, removed: 0 });
  });

  test('beside an App that is no longer configured, or an unreadable answer; other entities continue', async () => {
    await putWorker(database.db, {
      entity_id: 77,
      app_id: 999,
      installation_id: 5,
      status: 'completed',
      completed_at: minutesAgo(1),
    });
    for (const scope of [ACME, TOOL]) await scene.knowScope(scope);
    await scene.world.github.failNext({
      path: '/orgs/acme/actions/runners$',
      status: 200,
      body: {},
    });
    expect(await scene.sweep()).toMatchObject({ listed: 1, failed: 1 });
    expect(await scene.sweep()).toMatchObject({ listed: 2, failed: 0 });
  });

  test('when the second page of a list fails', async () => {
    await oneDue();
    await Promise.all(Array.from({ length: 100 }, () => scene.register()));
    await scene.world.github.failNext({
      path: '/orgs/acme/actions/runners',
      status: 502,
      after: 1,
    });
    expect(await scene.sweep()).toMatchObject({ listed: 0, failed: 1, removed: 0 });
    expect(await scene.sightings()).toEqual([1]);
  });

  test('when a list lacks our runners although a registered worker lives', async () => {
    await oneDue();
    await scene.knowScope(ACME, { status: 'running' });
    await scene.world.github.failNext({
      method: 'GET',
      path: '/orgs/acme/actions/runners',
      status: 200,
      body: { total_count: 0, runners: [] },
    });
    expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1 });
    expect(scene.told).toEqual(['acme: runners missing']);
    expect(await scene.sightings()).toEqual([1]);
  });

  test('when more would go than the cap', async () => {
    await scene.knowScope(ACME);
    for (let nth = 0; nth < 3; nth++) await scene.register();
    await scene.sweep();
    await scene.passHours();
    expect(await scene.sweep({ cap: 2 })).toEqual({ ...NOTHING, listed: 1, strays: 3, overCap: 3 });
    expect(scene.told).toEqual(['3 are more than 2']);
    expect(await scene.runners()).toHaveLength(3);
    expect(await scene.sweep({ cap: 3 })).toMatchObject({ removed: 3 });
  });
});

describe('remove-stray-registrations is made good by later passes', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('when call %d to GitHub fails', async (after) => {
    await oneDue();
    await scene.knowScope(TOOL);
    await scene.register(TOOL);
    await scene.world.github.failNext({ path: '/', status: 502, after });
    for (let pass = 0; pass < 4; pass++) {
      await scene.sweep();
      await scene.passHours();
    }
    expect(await scene.runners()).toEqual([]);
    expect(await scene.sightings()).toEqual([]);
  });

  test('when the answer to a removal was lost', async () => {
    await oneDue();
    await scene.world.github.failNext({
      method: 'DELETE',
      path: '/actions/runners/',
      afterCommit: true,
    });
    expect(await scene.sweep()).toMatchObject({ removed: 0 });
    expect(await scene.sweep()).toMatchObject({ strays: 0, removed: 0 });
    expect(await scene.sightings()).toEqual([]);
  });
});
