import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { connectGitHub, type GitHub } from '@paddock/github/connect';
import { createJitConfig } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { createPod } from '@paddock/kube/pods';
import { runnerPod, runnerSecret } from '@paddock/kube/runner-pod';
import { createSecret, secretExists } from '@paddock/kube/secrets';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/github/start-small-world';
import { type KubeSimulator, startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import {
  removeStrayRegistrations,
  type RemoveStrayRegistrationsOptions,
  type StrayRegistrationsCounts,
} from './remove-stray-registrations.ts';

let database: TestDatabase;
let world: SmallWorld;
let github: GitHub;
let kube: KubeSimulator;
let cluster: Cluster;
let instance: string;
let told: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  instance = (await database.db.selectFrom('instance').select('instance_id').executeTakeFirstOrThrow()).instance_id;
});
afterAll(() => database.drop());
beforeEach(async () => {
  for (const table of ['workers', 'installation_events', 'installations', 'breakers', 'stray_registrations'] as const) {
    await database.db.deleteFrom(table).execute();
  }
  world = await startSmallWorld();
  const apps = [{ appId: world.appId, privateKey: world.privateKeyPem }];
  github = connectGitHub({ apiUrl: world.github.url, apps, requestTimeoutMs: 5_000 });
  kube = await startKubeSimulator();
  cluster = connectCluster({ kubeconfigFile: kube.writeKubeconfig(), requestTimeoutMs: 5_000 });
  told = [];
});
afterEach(async () => {
  cluster.close();
  await Promise.all([world.github.stop(), kube.stop()]);
});

const sweep = (more: Partial<RemoveStrayRegistrationsOptions> = {}): Promise<StrayRegistrationsCounts> =>
  removeStrayRegistrations(
    {
      db: database.db,
      github,
      cluster,
      events: {
        strayRegistrationRemoved: (name) => void told.push(`removed ${name}`),
        strayRegistrationsNotChecked: (account, failure) => void told.push(`${account}: ${failure?.kind}`),
        runnersMissing: (account) => void told.push(`${account}: runners missing`),
        straySecretNotRemoved: (name, { kind }) => void told.push(`Secret ${name}: ${kind}`),
        tooManyStrays: (count, cap) => void told.push(`${count} are more than ${cap}`),
      },
      madeWithinMs: 86_400_000,
      graceMs: 3_600_000,
      breakerRules: BREAKER_RULES,
      cap: 50,
      dryRun: false,
      ...more,
    },
    new AbortController().signal,
  );

const ACME: RegistrationScope = { kind: 'organization', owner: 'acme' };
const TOOL: RegistrationScope = { kind: 'repository', owner: 'mona', repo: 'tool' };

/** A worker that makes its scope a known one. It has ended, and its registration with it. */
const knowScope = (scope: RegistrationScope, given: { status?: 'running' | 'completed'; podName?: string } = {}) => {
  const owner = scope.kind === 'organization' ? world.organization : world.user;
  const { status = 'completed', podName } = given;
  return putWorker(database.db, {
    ...(podName === undefined ? {} : { pod_name: podName }),
    status,
    completed_at: status === 'completed' ? minutesAgo(1) : null,
    registered_at: minutesAgo(10),
    app_id: world.appId,
    installation_id: owner.installationId,
    entity_id: owner.id,
    entity_name: owner.login,
    entity_type: scope.kind === 'organization' ? 'Organization' : 'User',
    scope_repo_id: scope.kind === 'organization' ? 0 : world.repositories.tool,
  });
};

let lastName = 0;

/** A registration that bears a name of ours and has no worker. */
async function register(scope: RegistrationScope = ACME, name = `pdk-${instance}-linux-f${String(++lastName).padStart(11, '0')}`) {
  const { installationId } = scope.kind === 'organization' ? world.organization : world.user;
  const client = github.asInstallation(world.appId, installationId);
  const { jitConfig } = await createJitConfig(client, scope, { name, labels: ['linux'], runnerGroupId: 1 });
  return { name, jitConfig };
}

const isKnown = async (name: string) =>
  (await database.db.selectFrom('workers').select('pod_name').where('pod_name', '=', name).execute()).length > 0;

const runners = async () => (await world.github.truth()).runners.map(({ name }) => name).toSorted();
const passHours = () => sql`update stray_registrations set first_seen_at = first_seen_at - interval '2 hours'`.execute(database.db);
const sightings = async () =>
  (await database.db.selectFrom('stray_registrations').select('sightings').execute()).map((row) => row.sightings);
const NOTHING = { strays: 0, online: 0, removed: 0, secrets: 0, left: 0, failed: 0, overCap: 0 };

describe('registrations of ours without a worker (E6)', () => {
  test.each([
    ['an organisation', ACME],
    ['a repository', TOOL],
  ])('of %s go when they were offline in two lists and for longer than the grace', async (_name, scope) => {
    await knowScope(scope);
    const { name } = await register(scope);
    expect(await sweep()).toEqual({ ...NOTHING, listed: 1, strays: 1 });
    expect(await sweep()).toMatchObject({ strays: 1, removed: 0 });
    await passHours();
    expect(await sweep()).toEqual({ ...NOTHING, listed: 1, strays: 1, removed: 1 });
    expect(await runners()).toEqual([]);
    expect(told).toEqual([`removed ${name}`]);
    expect(await sightings()).toEqual([]);
  });

  test('are seen in lists one after the other: one that was away in between begins anew', async () => {
    await knowScope(ACME);
    const { name, jitConfig } = await register();
    await sweep();
    await passHours();
    const stop = new AbortController();
    const playing = playRunner(jitConfig, stop.signal);
    await waitFor('the runner to be online', async () => (await world.github.truth()).runners.some(({ state }) => state === 'idle'));
    expect(await sweep()).toMatchObject({ strays: 0, online: 1 });
    expect(await sightings()).toEqual([]);
    stop.abort();
    await playing;
    await waitFor('the runner to be offline', async () => (await world.github.truth()).runners.some(({ state }) => state === 'offline'));
    expect(await sweep()).toMatchObject({ strays: 1, removed: 0 });
    expect(await runners()).toEqual([name]);
  });

  test('are left alone once a worker of their name is here that may need them', async () => {
    await knowScope(ACME);
    const { name } = await register();
    await sweep();
    await passHours();
    await knowScope(ACME, { podName: name, status: 'running' });
    expect(await sweep()).toMatchObject({ strays: 0, removed: 0 });
    expect(await runners()).toEqual([name]);
  });

  test('are looked at once more before they go: not one whose worker or whose runner has come back since the list', async () => {
    await knowScope(ACME);
    const [adopted, online] = [await register(), await register()];
    await sweep();
    await passHours();
    const stop = new AbortController();
    let playing: Promise<unknown> = Promise.resolve();
    const comeBack = async () => {
      if (await isKnown(adopted.name)) return;
      await knowScope(ACME, { podName: adopted.name, status: 'running' });
      playing = playRunner(online.jitConfig, stop.signal);
      await waitFor('the runner to be online', async () => (await world.github.truth()).runners.some(({ state }) => state === 'idle'));
    };
    const slow: GitHub = {
      ...github,
      asInstallation: (...given) => {
        const client = github.asInstallation(...given);
        client.octokit.hook.before('request', ({ url }) => (url.endsWith('/actions/runners/{runner_id}') ? comeBack() : undefined));
        return client;
      },
    };
    expect(await sweep({ github: slow })).toMatchObject({ strays: 2, removed: 0, left: 2 });
    expect(await runners()).toEqual([adopted.name, online.name].toSorted());
    stop.abort();
    await playing;
  });

  test('that a worker left who ended well, or was thought to be rid of them, go as well', async () => {
    const completed = await knowScope(ACME);
    const failed = await knowScope(ACME);
    await database.db.updateTable('workers').set({ status: 'failed' }).where('pod_name', '=', failed.pod_name).execute();
    for (const { pod_name: name } of [completed, failed]) await register(ACME, name);
    expect(await sweep()).toMatchObject({ strays: 1 });
    await database.db.updateTable('workers').set({ registration_gone_at: new Date() }).execute();
    expect(await sweep()).toMatchObject({ strays: 2 });
  });

  test('of another instance, and foreign runners, are not looked at (A8)', async () => {
    await knowScope(ACME);
    const names = [(await register(ACME, 'pdk-zzzzzz-linux-000000000001')).name, (await register(ACME, 'build-box')).name];
    expect(await sweep()).toEqual({ ...NOTHING, listed: 1 });
    expect(await runners()).toEqual(names.toSorted());
  });

  test('cost one list per scope for which a worker was made lately, none for an account without an installation', async () => {
    for (let nth = 0; nth < 3; nth++) await knowScope(ACME);
    await knowScope(TOOL);
    expect(await sweep()).toMatchObject({ listed: 2 });
    const { calls } = await world.github.report();
    expect(calls['actions/list-self-hosted-runners-for-org']).toBe(1);
    expect(calls['actions/list-self-hosted-runners-for-repo']).toBe(1);
    await database.db
      .updateTable('workers')
      .set({ created_at: minutesAgo(3_000) })
      .where('entity_id', '=', world.user.id)
      .execute();
    const { id, installationId, login } = world.organization;
    const gone = { entity_id: id, app_id: world.appId, installation_id: installationId, login, entity_type: 'Organization' as const };
    await database.db
      .insertInto('installations')
      .values({ ...gone, stated_at: new Date(), deleted_at: new Date() })
      .execute();
    expect(await sweep()).toMatchObject({ listed: 0 });
  });

  test('are only counted by a dry run', async () => {
    await knowScope(ACME);
    await register();
    await sweep();
    await passHours();
    expect(await sweep({ dryRun: true })).toMatchObject({ strays: 1, removed: 1 });
    expect(await sightings()).toEqual([1]);
    expect(await runners()).toHaveLength(1);
  });
});

/** A registration that the next pass removes. */
async function oneDue(): Promise<void> {
  await knowScope(ACME);
  await register();
  await sweep();
  await passHours();
}

describe('a Secret with neither row nor pod (E6)', () => {
  const NAMESPACE = 'default';

  /** As a restore of the database leaves it, to a moment before the worker's row was made. */
  async function secretDue(): Promise<{ namespace: string; name: string }> {
    await putPools(database.db, examplePools({ pools: [{ namespace: NAMESPACE }] }));
    await knowScope(ACME);
    const { name, jitConfig } = await register();
    await createSecret(cluster, runnerSecret({ ...identityOf(name), jitConfig }));
    await sweep();
    expect(await secretExists(cluster, { namespace: NAMESPACE, name })).toBe(true);
    await passHours();
    return { namespace: NAMESPACE, name };
  }

  const identityOf = (name: string) => ({
    ...{ namespace: NAMESPACE, name, instance, pool: 'linux', image: 'example.test/runner:1' },
    ...{ entityId: world.organization.id, scopeRepoId: 0 },
  });

  test('goes with the registration that it is for', async () => {
    const secret = await secretDue();
    expect(await sweep()).toMatchObject({ removed: 1, secrets: 1 });
    expect(await secretExists(cluster, secret)).toBe(false);
    expect(await runners()).toEqual([]);
  });

  test('stays for a pod that is to be adopted, and its registration with it', async () => {
    const secret = await secretDue();
    await createPod(cluster, runnerPod(identityOf(secret.name)));
    expect(await sweep()).toMatchObject({ removed: 0, secrets: 0, left: 1 });
    expect(await secretExists(cluster, secret)).toBe(true);
    expect(await runners()).toEqual([secret.name]);
  });

  test('is left by a dry run', async () => {
    const secret = await secretDue();
    expect(await sweep({ dryRun: true })).toMatchObject({ removed: 1, secrets: 0 });
    expect(await secretExists(cluster, secret)).toBe(true);
  });

  test.each([0, 1])('is removed by the next pass when call %d to the cluster fails', async (after) => {
    const secret = await secretDue();
    kube.failNext({ status: 503, after });
    expect(await sweep()).toMatchObject({ removed: 0, failed: 1 });
    expect(told).toEqual([`Secret ${secret.name}: unavailable`]);
    expect(await sweep()).toMatchObject({ removed: 1, secrets: 1 });
    expect(await secretExists(cluster, secret)).toBe(false);
  });
});

describe('remove-stray-registrations does nothing', () => {
  test('when a list fails; other accounts go on, and the refusal is written down once (C9)', async () => {
    await oneDue();
    await knowScope(TOOL);
    await world.github.failNext({ path: '/orgs/acme/actions/runners', status: 403 });
    expect(await sweep()).toMatchObject({ listed: 1, failed: 1, removed: 0 });
    expect(told).toEqual(['acme: forbidden']);
    expect(await sightings()).toEqual([1]);
    expect(await runners()).toHaveLength(1);
    const events = await database.db.selectFrom('installation_events').select(['event', 'entity_id']).execute();
    expect(events).toEqual([{ event: 'auth_attempt.other_error', entity_id: world.organization.id }]);
    expect(await sweep()).toMatchObject({ listed: 1, failed: 0, removed: 0 });
  });

  test('beside an App that is not configured any more, or an answer that nobody can read; other accounts go on', async () => {
    await putWorker(database.db, { entity_id: 77, app_id: 999, installation_id: 5, status: 'completed', completed_at: minutesAgo(1) });
    for (const scope of [ACME, TOOL]) await knowScope(scope);
    await world.github.failNext({ path: '/orgs/acme/actions/runners$', status: 200, body: {} });
    expect(await sweep()).toMatchObject({ listed: 1, failed: 1 });
    expect(await sweep()).toMatchObject({ listed: 2, failed: 0 });
  });

  test('when the second page of a list fails', async () => {
    await oneDue();
    await Promise.all(Array.from({ length: 100 }, () => register()));
    await world.github.failNext({ path: '/orgs/acme/actions/runners', status: 502, after: 1 });
    expect(await sweep()).toMatchObject({ listed: 0, failed: 1, removed: 0 });
    expect(await sightings()).toEqual([1]);
  });

  test('when a list shows none of ours although a registered worker lives', async () => {
    await oneDue();
    await knowScope(ACME, { status: 'running' });
    await world.github.failNext({ method: 'GET', path: '/orgs/acme/actions/runners', status: 200, body: { total_count: 0, runners: [] } });
    expect(await sweep()).toEqual({ ...NOTHING, listed: 1 });
    expect(told).toEqual(['acme: runners missing']);
    expect(await sightings()).toEqual([1]);
  });

  test('when more would go than the cap', async () => {
    await knowScope(ACME);
    for (let nth = 0; nth < 3; nth++) await register();
    await sweep();
    await passHours();
    expect(await sweep({ cap: 2 })).toEqual({ ...NOTHING, listed: 1, strays: 3, overCap: 3 });
    expect(told).toEqual(['3 are more than 2']);
    expect(await runners()).toHaveLength(3);
    expect(await sweep({ cap: 3 })).toMatchObject({ removed: 3 });
  });
});

describe('remove-stray-registrations is made good by later passes', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('when call %d to GitHub fails', async (after) => {
    await oneDue();
    await knowScope(TOOL);
    await register(TOOL);
    await world.github.failNext({ path: '/', status: 502, after });
    for (let pass = 0; pass < 4; pass++) {
      await sweep();
      await passHours();
    }
    expect(await runners()).toEqual([]);
    expect(await sightings()).toEqual([]);
  });

  test('when the answer to a removal was lost', async () => {
    await oneDue();
    await world.github.failNext({ method: 'DELETE', path: '/actions/runners/', afterCommit: true });
    expect(await sweep()).toMatchObject({ removed: 0 });
    expect(await sweep()).toMatchObject({ strays: 0, removed: 0 });
    expect(await sightings()).toEqual([]);
  });
});
