import { describe, expect, test } from '@jest/globals';
import { createPod } from '@paddock/kube/pods';
import { runnerPod } from '@paddock/kube/runner-pod';
import { startSimulatedCluster } from '@paddock/kube/scenes/simulated-cluster.scene';
import { createSecret, runnerSecret } from '@paddock/kube/secrets';
import { installationOf, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putInstallation, putPools, putWorker } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { outputOf, useScene, usualSweeps } from '../scenes/sweep.scene.ts';
import { checkRunnerVersions } from './check-runner-versions.ts';

const ORGANIZATIONS = 'actions/get-runner-version-deprecation-for-org';
const REPOSITORIES = 'actions/get-runner-version-deprecation-for-repo';
const DAY_MS = 86_400_000;

const database = useTestDatabase();

/** The image's name is the version that its runner writes. */
const playRunner: NonNullable<Parameters<typeof startSimulatedCluster>[0]>['playRunner'] = async (
  _jit,
  signal,
  onLine,
  { image },
) => {
  for (const line of ['√ Connected to GitHub', image.replaceAll('_', ' '), 'Listening for Jobs'])
    onLine(line);
  await new Promise((ended) => signal.addEventListener('abort', ended, { once: true }));
  return { exitCode: 143, log: [] };
};
const saying = (version: string) => `Current_runner_version:_'${version}'`;

const scene = useScene(async () => {
  await emptyAll(database.db);
  await usePools('linux');
  const world = await startSmallWorld();
  const options = { namespaces: ['runners'], startDelayMs: [0, 1] as const, playRunner };
  const { kube, cluster, stop } = await startSimulatedCluster(options);
  return {
    world,
    kube,
    cluster,
    ...usualSweeps(database, world, { cluster }),
    stop: async () => {
      await Promise.all([world.github.stop(), stop()]);
    },
  };
});

const usePools = async (...names: string[]) =>
  putPools(database.db, { pools: names.map((name) => ({ name, labels: [name] })) });

/** A worker of the pool whose runner runs since then and writes that. */
async function putRunning(
  image: string,
  {
    pool = 'linux',
    minutes = 10,
    ...given
  }: Parameters<typeof putWorker>[1] & { pool?: string; minutes?: number } = {},
) {
  const { world, kube, cluster } = scene;
  const { pod_name: name } = await putWorker(database.db, {
    entity_id: world.organization.id,
    installation_id: world.organization.installationId,
    app_id: world.appId,
    status: 'running',
    k8s_pool: pool,
    namespace: 'runners',
    pod_uid: 'uid',
    running_at: minutesAgo(minutes),
    ...given,
  });
  const of = { instance: 'i', pool, entityId: 1, scopeRepoId: 0 };
  const identity = { namespace: 'runners', name, ...of };
  await createSecret(cluster, runnerSecret({ ...identity, jitConfig: 'jit' }));
  await createPod(cluster, runnerPod({ ...identity, image }));
  await waitFor('the runner to write', () => kube.runnerLog('runners', name).length === 3);
}

const sweep = async () => outputOf(await scene.run(checkRunnerVersions));
const NONE = { read: 0, unread: 0, asked: 0, unanswered: 0 };
const versions = async () =>
  (
    await database.db
      .selectFrom('pool_runner_versions')
      .select(['k8s_pool', 'version', 'ends_at'])
      .orderBy('k8s_pool')
      .execute()
  ).map((row) => [row.k8s_pool, row.version, row.ends_at?.toISOString() ?? null]);
const asked = async (operation = ORGANIZATIONS) =>
  (await scene.world.github.report()).calls[operation] ?? 0;
const inDays = (days: number) =>
  new Date(Math.floor((Date.now() + days * DAY_MS) / 1000) * 1000)
    .toISOString()
    .replace('.000', '');

describe('the version that the pods of a pool run', () => {
  test('is read from the log of its newest runner, and its end from GitHub (H5)', async () => {
    const endsAt = inDays(30);
    await scene.world.github.setRunnerVersion('2.340.0', endsAt);
    await putRunning(saying('2.330.0'), { minutes: 60 });
    await putRunning(saying('2.340.0'));
    expect(await sweep()).toEqual({ ...NONE, read: 1, asked: 1 });
    expect(await versions()).toEqual([['linux', '2.340.0', new Date(endsAt).toISOString()]]);
    expect(scene.told('versionEnds')).toEqual([]);
  });

  test('is not read or asked for again before there is a newer runner or a day has gone by', async () => {
    await putRunning(saying('2.337.0'));
    await sweep();
    expect(await sweep()).toEqual(NONE);
    await putRunning(saying('2.337.0'), { minutes: 5 });
    expect(await sweep()).toEqual({ ...NONE, read: 1 });
    await sql`update pool_runner_versions set asked_at = asked_at - interval '1 day'`.execute(
      database.db,
    );
    await database.db.updateTable('workers').set({ pod_deleted_at: new Date() }).execute();
    expect(await sweep()).toEqual({ ...NONE, asked: 1 });
    expect(await asked()).toBe(2);
  });

  test('is another one from the first runner of a new image on, and the old end is forgotten', async () => {
    await scene.world.github.setRunnerVersion('2.336.0', inDays(-3));
    await putRunning(saying('2.336.0'));
    await sweep();
    const ended = { pool: 'linux', version: '2.336.0', daysLeft: expect.closeTo(-3, 1) };
    expect(scene.told('versionEnds')).toEqual([[ended]]);
    await putRunning(saying('2.337.0'), { minutes: 5 });
    expect(await sweep()).toMatchObject({ read: 1, asked: 1 });
    expect(await versions()).toEqual([['linux', '2.337.0', null]]);
  });

  test('GitHub is asked once for all pools with the same version, at a repository where runners register there', async () => {
    await usePools('a', 'b', 'gone');
    await putRunning(saying('2.337.0'), {
      pool: 'a',
      entity_type: 'User',
      entity_id: scene.world.user.id,
      entity_name: 'mona',
      installation_id: scene.world.user.installationId,
      scope_repo_id: scene.world.repositories.tool,
    });
    for (const pool of ['b', 'of-before']) await putRunning(saying('2.337.0'), { pool });
    expect(await sweep()).toEqual({ ...NONE, read: 2, asked: 2 });
    expect([await asked(REPOSITORIES), await asked()]).toEqual([1, 0]);
    expect((await versions()).map(([pool]) => pool)).toEqual(['a', 'b']);
  });

  test('GitHub is asked under today’s names of the organisation and the installation, not those of when the runner was made', async () => {
    const endsAt = inDays(100);
    await scene.world.github.setRunnerVersion('2.335.1', endsAt);
    await putInstallation(database.db, installationOf(scene.world.organization));
    await putRunning(saying('2.335.1'), { entity_name: 'acme-of-before', installation_id: 1 });
    expect(await sweep()).toEqual({ ...NONE, read: 1, asked: 1 });
    expect(await versions()).toEqual([['linux', '2.335.1', new Date(endsAt).toISOString()]]);
  });

  test('one pool’s failures leave the others alone, and are tried again', async () => {
    await usePools('a', 'b', 'c', 'd');
    await putRunning(saying('2.336.0'), { pool: 'a', app_id: 999 });
    await putRunning(saying('2.337.0'), { pool: 'b', scope_repo_id: 1 });
    await putRunning('an_image_that_says_nothing', { pool: 'c' });
    await putRunning(saying('2.335.1'), { pool: 'd' });
    const endsAt = inDays(100);
    await scene.world.github.setRunnerVersion('2.335.1', endsAt);
    expect(await sweep()).toEqual({ read: 3, unread: 1, asked: 3, unanswered: 2 });
    expect(scene.told('versionEndUnknown')).toEqual([
      ['a', expect.objectContaining({ kind: 'unauthorized' })],
      ['b', undefined],
    ]);
    expect(await versions()).toEqual([
      ['a', '2.336.0', null],
      ['b', '2.337.0', null],
      ['d', '2.335.1', new Date(endsAt).toISOString()],
    ]);
    expect(await sweep()).toEqual({ ...NONE, unread: 1, asked: 2, unanswered: 2 });
  });

  test('a log that cannot be read, and a version that GitHub does not know', async () => {
    scene.kube.failNext({ path: '/log$', status: 500 });
    await putRunning(saying('9.9.9'));
    expect(await sweep()).toEqual({ ...NONE, unread: 1 });
    const [[pool, , failure] = []] = scene.told('versionNotRead');
    expect([pool, failure]).toMatchObject(['linux', { kind: 'unavailable' }]);
    expect(await sweep()).toEqual({ ...NONE, read: 1, asked: 1 });
    expect(await versions()).toEqual([['linux', '9.9.9', null]]);
    expect(await sweep()).toMatchObject({ asked: 0 });
  });
});
