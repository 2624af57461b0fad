import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { putInstallation } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { describe, expect, test } from '@jest/globals';
import { ACME, isKnown, type RegistrationsScene, TOOL } from '../scenes/registrations.scene.ts';
import { useRegistrationsScene } from '../scenes/use-scenes.scene.ts';

const database = useTestDatabase();
const scene = useRegistrationsScene(database);

const NOTHING = { unused: 0, inUse: 0, removed: 0, secrets: 0, left: 0, failed: 0, overCap: 0 };

const untilOneIs = (state: string) =>
  waitFor(`a runner to be ${state}`, async () =>
    (await scene.world.github.truth()).runners.some((runner) => runner.state === state),
  );

/** Two lists that show what is left, hours apart. */
async function listTwice(): Promise<void> {
  await scene.sweep();
  await scene.passHours();
}

describe('registrations with our names and without a live worker (E6)', () => {
  test.each([
    ['an organisation, without a row', ACME, undefined],
    ['a repository, without a row', TOOL, undefined],
    ['an organisation, of a failed worker', ACME, 'failed'],
    ['a repository, of a failed worker', TOOL, 'failed'],
    ['an organisation, of a worker that ended well', ACME, 'completed'],
  ] as const)(
    'of %s go when they were offline in two lists and for longer than the grace',
    async (_name, scope, status) => {
      const known = await scene.knowScope(scope, { status: status ?? 'completed' });
      const { name } = await scene.register(scope, status && known.pod_name);
      expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1, unused: 1 });
      expect(await scene.sweep()).toMatchObject({ unused: 1, removed: 0 });
      await scene.passHours();
      expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1, unused: 1, removed: 1 });
      expect(await scene.runners()).toEqual([]);
      expect(scene.told).toEqual([`removed ${name}`]);
      expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1 });
      expect(await scene.noted()).toEqual([]);
    },
  );

  test('are not removed when they are first seen, even without a grace', async () => {
    await scene.fail();
    expect(await scene.sweep({ graceMs: 0 })).toMatchObject({ unused: 1, removed: 0 });
    expect(await scene.sweep({ graceMs: 0 })).toMatchObject({ unused: 1, removed: 1 });
  });

  test('are seen in successive lists: one that was away in between begins again', async () => {
    await scene.knowScope(ACME);
    const { name, jitConfig } = await scene.register();
    await listTwice();
    const stop = new AbortController();
    const playing = playRunner(jitConfig, stop.signal);
    await untilOneIs('idle');
    expect(await scene.sweep()).toMatchObject({ unused: 0, inUse: 1 });
    expect(await scene.noted()).toEqual([]);
    stop.abort();
    await playing;
    await untilOneIs('offline');
    expect(await scene.sweep()).toMatchObject({ unused: 1, removed: 0 });
    expect(await scene.runners()).toEqual([name]);
  });

  test('are left alone while their runner is online, idle or at work (P2)', async () => {
    const { name, jitConfig } = await scene.fail();
    const stop = new AbortController();
    const playing = playRunner(jitConfig, stop.signal);
    await untilOneIs('idle');
    await listTwice();
    expect(await scene.sweep()).toMatchObject({ inUse: 1, removed: 0 });
    await scene.world.github.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 60_000 });
    await untilOneIs('busy');
    await listTwice();
    expect(await scene.sweep()).toMatchObject({ inUse: 1, removed: 0 });
    expect(await scene.runners()).toEqual([name]);
    stop.abort();
    await playing;
  });

  test('whose workers cannot be read are no silence of GitHub’s: the pass ends with the statement that failed', async () => {
    await scene.knowScope(ACME);
    await scene.register();
    await sql`alter table workers rename namespace to mislaid`.execute(database.db);
    try {
      await expect(scene.sweep()).rejects.toThrow('column "namespace" does not exist');
      expect(scene.told).toEqual([]);
    } finally {
      await sql`alter table workers rename mislaid to namespace`.execute(database.db);
    }
  });

  test('are left alone once there is a worker of their name that may need them', async () => {
    await scene.knowScope(ACME);
    const { name } = await scene.register();
    await listTwice();
    await scene.knowScope(ACME, { pod_name: name, status: 'running' });
    expect(await scene.sweep()).toMatchObject({ unused: 0, removed: 0 });
    expect(await scene.runners()).toEqual([name]);
  });

  test('are looked at once more before they go: not one whose worker or whose runner has come back since the list', async () => {
    await scene.knowScope(ACME);
    const [adopted, online] = [await scene.register(), await scene.register()];
    await listTwice();
    const stop = new AbortController();
    let playing: Promise<unknown> = Promise.resolve();
    const comeBack = async () => {
      if (await isKnown(database.db, adopted.name)) return;
      await scene.knowScope(ACME, { pod_name: adopted.name, status: 'running' });
      playing = playRunner(online.jitConfig, stop.signal);
      await untilOneIs('idle');
    };
    const slow: RegistrationsScene['github'] = {
      ...scene.github,
      asInstallation: (...given) => {
        const client = scene.github.asInstallation(...given);
        client.octokit.hook.before('request', ({ url }) =>
          url.endsWith('/actions/runners/{runner_id}') ? comeBack() : undefined,
        );
        return client;
      },
    };
    expect(await scene.sweep({ github: slow })).toMatchObject({ unused: 2, removed: 0, left: 2 });
    expect(await scene.runners()).toEqual([adopted.name, online.name].toSorted());
    stop.abort();
    await playing;
  });

  test('of another instance, even with a row here, and foreign runners are not looked at (A8)', async () => {
    const ofOther = 'pdk-zzzzzz-linux-000000000001';
    await scene.fail(ACME, { pod_name: ofOther });
    const { name: foreign } = await scene.register(ACME, 'build-box');
    await listTwice();
    expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1 });
    expect(await scene.runners()).toEqual([foreign, ofOther].toSorted());
  });

  test('are found under today’s names of the entity, the installation and the repository (A12)', async () => {
    await scene.fail(ACME, { entity_name: 'acme-as-it-was', installation_id: 999_999 });
    await scene.fail(TOOL);
    await putInstallation(database.db, installationOf(scene.world.organization));
    await scene.world.github.renameRepository('mona/tool', 'spanner');
    await listTwice();
    expect(await scene.sweep()).toMatchObject({ listed: 2, removed: 2 });
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

  test('are only counted by a dry run, which stores nothing, nor a refusal', async () => {
    await scene.fail();
    const { name } = await scene.register();
    expect(await scene.sweep({ dryRun: true })).toMatchObject({ unused: 2, removed: 0 });
    expect(await scene.noted()).toEqual([]);
    await listTwice();
    expect(await scene.sweep({ dryRun: true })).toMatchObject({ unused: 2, removed: 2 });
    await scene.world.github.failNext({ path: `/actions/runners$`, status: 403 });
    expect(await scene.sweep({ dryRun: true })).toMatchObject({ failed: 1 });
    expect(await scene.noted()).toContain(name);
    expect(await scene.runners()).toHaveLength(2);
    expect(await database.db.selectFrom('installation_events').selectAll().execute()).toEqual([]);
  });
});
