import { githubIsAway, passOf } from '../scenes/pass.scene.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createWaits } from '@paddock/db/entities/waits';
import type { GitHub } from '@paddock/github/connect';
import { connectSmallWorld } from '@paddock/github/scenes/connect-small-world.scene';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { createPod } from '@paddock/kube/pods';
import { runnerPod, runnerSecret } from '@paddock/kube/runner-pod';
import { createSecret } from '@paddock/kube/secrets';
import { createMetrics } from '@paddock/runtime/metrics';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import {
  type KubeSimulator,
  startKubeSimulator,
} from '@paddock/simulators/kube/start-kube-simulator';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { declareReconcilerGauges } from '../reconciler-gauges.ts';
import { checkRunnerVersions } from './check-runner-versions.ts';

const ORGANIZATIONS = 'actions/get-runner-version-deprecation-for-org';
const REPOSITORIES = 'actions/get-runner-version-deprecation-for-repo';
const DAY_MS = 86_400_000;

let database: TestDatabase;
let world: SmallWorld;
let kube: KubeSimulator;
let cluster: Cluster;
let github: GitHub;
let told: string[];

/** The image's name is the version that its runner writes. */
const playRunner = async (
  _jit: string,
  signal: AbortSignal,
  onLine: (line: string) => void,
  { image }: { image: string },
) => {
  for (const line of ['√ Connected to GitHub', image.replaceAll('_', ' '), 'Listening for Jobs'])
    onLine(line);
  await new Promise((ended) => signal.addEventListener('abort', ended, { once: true }));
  return { exitCode: 143, log: [] };
};
const saying = (version: string) => `Current_runner_version:_'${version}'`;

beforeAll(async () => {
  database = await createTestDatabase();
  kube = await startKubeSimulator({ namespaces: ['runners'], startDelayMs: [0, 1], playRunner });
  cluster = connectCluster({ kubeconfigFile: kube.writeKubeconfig(), requestTimeoutMs: 60_000 });
});
afterAll(async () => {
  await world.github.stop();
  cluster.close();
  await kube.stop();
  await database.drop();
});
beforeEach(async () => {
  await (world as SmallWorld | undefined)?.github.stop();
  await emptyTables(database.db, ['workers', 'pools_documents', 'pool_runner_versions']);
  world = await startSmallWorld();
  const waits = createWaits(database.dbOf('reconciler'), () => undefined);
  github = connectSmallWorld(world, { waits });
  told = [];
  await usePools('linux');
});

const usePools = async (...names: string[]) =>
  putPools(database.db, examplePools({ pools: names.map((name) => ({ name, labels: [name] })) }));

/** A worker of the pool whose runner runs since then and writes that. */
async function putRunning(
  image: string,
  {
    pool = 'linux',
    minutes = 10,
    given = {},
  }: { pool?: string; minutes?: number; given?: object } = {},
) {
  const organization = {
    entity_id: world.organization.id,
    installation_id: world.organization.installationId,
    app_id: world.appId,
  };
  const worker = await putWorker(database.db, {
    ...organization,
    status: 'running',
    k8s_pool: pool,
    namespace: 'runners',
    pod_uid: 'uid',
    running_at: minutesAgo(minutes),
    ...given,
  });
  const identity = {
    namespace: 'runners',
    name: worker.pod_name,
    instance: 'i',
    pool,
    entityId: 1,
    scopeRepoId: 0,
  };
  await createSecret(cluster, runnerSecret({ ...identity, jitConfig: 'jit' }));
  await createPod(cluster, runnerPod({ ...identity, image }));
  await waitFor(
    'the runner to write',
    () => kube.runnerLog('runners', worker.pod_name).length === 3,
  );
  return worker.pod_name;
}

const sweep = async () =>
  checkRunnerVersions(
    {
      db: database.dbOf('reconciler'),
      github,
      cluster,
      events: {
        versionNotRead: (pool, _podName, { kind }) => void told.push(`${pool}: ${kind}`),
        versionEndUnknown: (pool, failure) => void told.push(`${pool}: ${failure?.kind}`),
        versionEnds: ({ pool, version, daysLeft }) =>
          void told.push(`${pool} ${version}: ${Math.round(daysLeft)} days`),
      },
    },
    await passOf(database.dbOf('reconciler'), { isAway: githubIsAway(github) }),
  );
const versions = async () =>
  (
    await database.db
      .selectFrom('pool_runner_versions')
      .select(['k8s_pool', 'version', 'ends_at'])
      .orderBy('k8s_pool')
      .execute()
  ).map((row) => [row.k8s_pool, row.version, row.ends_at?.toISOString() ?? null]);
const asked = async (operation = ORGANIZATIONS) =>
  (await world.github.report()).calls[operation] ?? 0;
const inDays = (days: number) =>
  new Date(Math.floor((Date.now() + days * DAY_MS) / 1000) * 1000)
    .toISOString()
    .replace('.000', '');

describe('the version that the pods of a pool run', () => {
  test('is read from the log of its newest runner, and its end from GitHub (H5)', async () => {
    const endsAt = inDays(30);
    await world.github.setRunnerVersion('2.340.0', endsAt);
    await putRunning(saying('2.330.0'), { minutes: 60 });
    await putRunning(saying('2.340.0'));
    expect(await sweep()).toEqual({ read: 1, unread: 0, asked: 1, unanswered: 0 });
    expect(await versions()).toEqual([['linux', '2.340.0', new Date(endsAt).toISOString()]]);
    expect(told).toEqual([]);
  });

  test('is not read or asked for again before there is a newer runner or a day has gone by', async () => {
    await putRunning(saying('2.337.0'));
    await sweep();
    expect(await sweep()).toEqual({ read: 0, unread: 0, asked: 0, unanswered: 0 });
    await putRunning(saying('2.337.0'), { minutes: 5 });
    expect(await sweep()).toEqual({ read: 1, unread: 0, asked: 0, unanswered: 0 });
    await sql`update pool_runner_versions set asked_at = asked_at - interval '1 day'`.execute(
      database.db,
    );
    await database.db.updateTable('workers').set({ pod_deleted_at: new Date() }).execute();
    expect(await sweep()).toEqual({ read: 0, unread: 0, asked: 1, unanswered: 0 });
    expect(await asked()).toBe(2);
  });

  test('is another one from the first runner of a new image on, and the old end is forgotten', async () => {
    await world.github.setRunnerVersion('2.336.0', inDays(-3));
    await putRunning(saying('2.336.0'));
    await sweep();
    expect(told).toEqual(['linux 2.336.0: -3 days']);
    await putRunning(saying('2.337.0'), { minutes: 5 });
    expect(await sweep()).toMatchObject({ read: 1, asked: 1 });
    expect(await versions()).toEqual([['linux', '2.337.0', null]]);
  });

  test('GitHub is asked once for all pools with the same version, at a repository where runners register there', async () => {
    await usePools('a', 'b', 'gone');
    const ofMona = {
      entity_type: 'User',
      entity_id: world.user.id,
      entity_name: 'mona',
      installation_id: world.user.installationId,
      scope_repo_id: world.repositories.tool,
    };
    await putRunning(saying('2.337.0'), { pool: 'a', given: ofMona });
    await putRunning(saying('2.337.0'), { pool: 'b' });
    await putRunning(saying('2.337.0'), { pool: 'of-before' });
    expect(await sweep()).toEqual({ read: 2, unread: 0, asked: 2, unanswered: 0 });
    expect([await asked(REPOSITORIES), await asked()]).toEqual([1, 0]);
    expect((await versions()).map(([pool]) => pool)).toEqual(['a', 'b']);
  });

  test('one pool’s failures leave the others alone, and are tried again', async () => {
    await usePools('a', 'b', 'c', 'd');
    await putRunning(saying('2.336.0'), { pool: 'a', given: { app_id: 999 } });
    await putRunning(saying('2.337.0'), { pool: 'b', given: { scope_repo_id: 1 } });
    await putRunning('an_image_that_says_nothing', { pool: 'c' });
    await putRunning(saying('2.335.1'), { pool: 'd' });
    await world.github.setRunnerVersion('2.335.1', inDays(100));
    expect(await sweep()).toEqual({ read: 3, unread: 1, asked: 3, unanswered: 2 });
    expect(told).toEqual(['a: unauthorized', 'b: undefined']);
    expect((await versions()).map(([pool, , end]) => [pool, end !== null])).toEqual([
      ['a', false],
      ['b', false],
      ['d', true],
    ]);
    expect(await sweep()).toEqual({ read: 0, unread: 1, asked: 2, unanswered: 2 });
  });

  test('a log that cannot be read, and a version that GitHub does not know', async () => {
    kube.failNext({ path: '/log$', status: 500 });
    await putRunning(saying('9.9.9'));
    expect(await sweep()).toEqual({ read: 0, unread: 1, asked: 0, unanswered: 0 });
    expect(told).toEqual(['linux: unavailable']);
    expect(await sweep()).toEqual({ read: 1, unread: 0, asked: 1, unanswered: 0 });
    expect(await versions()).toEqual([['linux', '9.9.9', null]]);
    expect(await sweep()).toMatchObject({ asked: 0 });
  });

  test('the remaining days are a metric, from the rows, of pools in force only (H5)', async () => {
    await usePools('a', 'b', 'c');
    const rows = [
      { k8s_pool: 'a', version: '2.335.1', pod_name: 'pdk', ends_at: new Date(inDays(12)) },
      { k8s_pool: 'b', version: '2.337.0', pod_name: 'pdk', ends_at: null },
      { k8s_pool: 'c', version: '2.329.0', pod_name: 'pdk', ends_at: new Date(inDays(-7)) },
      { k8s_pool: 'gone', version: '2.329.0', pod_name: 'pdk', ends_at: new Date(inDays(5)) },
    ];
    await database.db.insertInto('pool_runner_versions').values(rows).execute();
    const metrics = createMetrics();
    declareReconcilerGauges(metrics, database.dbOf('reconciler'), {
      stopAlertMs: 60_000,
      schedules: () => [],
    });
    const shown = async () =>
      Array.from(
        (await metrics.registry.metrics()).matchAll(
          /^paddock_runner_version_days_left\{(.+)\} (.+)$/gm,
        ),
        ([, labels, days]) => [labels, Math.round(Number(days))],
      );
    expect(await waitFor('a reading', async () => (await shown()).length > 0 && shown())).toEqual([
      ['pool="a",version="2.335.1"', 12],
      ['pool="c",version="2.329.0"', -7],
    ]);
    await database.db.deleteFrom('pool_runner_versions').execute();
    await waitFor('a reading since then', async () => (await shown()).length === 0);
  });
});
