import { describe, expect, test } from '@jest/globals';
import { ACME, TOOL } from '@paddock/github/scenes/small-world.scene';
import { createPod, findPod } from '@paddock/kube/pods';
import { runnerPod } from '@paddock/kube/runner-pod';
import { createSecret, secretExists, runnerSecret } from '@paddock/kube/secrets';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { minutesAgo, putInstallation, putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { putFailedLong } from '../scenes/sweep.scene.ts';
import { type RegistrationsScene, useRegistrationsScene } from '../scenes/registrations.scene.ts';

const database = useTestDatabase();
const scene = useRegistrationsScene(database);

const NOTHING = { unused: 0, inUse: 0, removed: 0, secrets: 0, left: 0, failed: 0, overCap: 0 };

const untilOneIs = (state: string) =>
  waitFor(`a runner to be ${state}`, async () =>
    (await scene.world.github.truth()).runners.some((runner) => runner.state === state),
  );

/** Does something while a runner runs that has come to this state. */
async function whileRunnerIs(state: string, jitConfig: string, act: () => Promise<void>) {
  const stop = new AbortController();
  const playing = playRunner(jitConfig, stop.signal);
  await untilOneIs(state);
  await act();
  stop.abort();
  await playing;
}

/** Two lists that show what is left, hours apart. */
async function listTwice(): Promise<void> {
  await scene.sweep();
  await scene.passHours();
}

describe('registrations with our names and without a live worker (E6)', () => {
  test.each([
    ['an organisation, without a row', ACME, undefined],
    ['a repository, of a failed worker', TOOL, 'failed'],
    ['an organisation, of a worker that ended well', ACME, 'completed'],
  ] as const)(
    'of %s go when they were offline in two lists, even without a grace, and for longer than it',
    async (_name, scope, status) => {
      const known = await scene.knowScope(scope, { status: status ?? 'completed' });
      const { name } = await scene.register(scope, status && known.pod_name);
      const config = { registrationGraceMs: 0 };
      expect(await scene.sweep({ config })).toEqual({ ...NOTHING, listed: 1, unused: 1 });
      expect(await scene.sweep()).toMatchObject({ unused: 1, removed: 0 });
      await scene.passHours();
      expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1, unused: 1, removed: 1 });
      expect(await scene.runners()).toEqual([]);
      expect(scene.told('registrationRemoved')).toEqual([[name]]);
      expect(await scene.sweep()).toEqual({ ...NOTHING, listed: 1 });
      expect(await scene.noted()).toEqual([]);
    },
  );

  test('are seen in successive lists: one that was away in between begins again', async () => {
    await scene.knowScope(ACME);
    const { name, jitConfig } = await scene.register();
    await listTwice();
    await whileRunnerIs('idle', jitConfig, async () => {
      expect(await scene.sweep()).toMatchObject({ unused: 0, inUse: 1 });
      expect(await scene.noted()).toEqual([]);
    });
    await untilOneIs('offline');
    expect(await scene.sweep()).toMatchObject({ unused: 1, removed: 0 });
    expect(await scene.runners()).toEqual([name]);
  });

  test('are left alone while their runner is at work (P2)', async () => {
    const { name, jitConfig } = await scene.fail();
    await scene.world.github.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 60_000 });
    await whileRunnerIs('busy', jitConfig, async () => {
      await listTwice();
      expect(await scene.sweep()).toMatchObject({ inUse: 1, removed: 0 });
      expect(await scene.runners()).toEqual([name]);
    });
  });

  test('are looked at once more before they go: not one whose worker or whose runner has come back since the list', async () => {
    await scene.knowScope(ACME);
    const [adopted, online] = [await scene.register(), await scene.register()];
    await listTwice();
    let hasCome = false;
    const comeBack = async () => {
      if (hasCome) return;
      hasCome = true;
      await scene.knowScope(ACME, { pod_name: adopted.name, status: 'running' });
      await scene.play(online.name, online.jitConfig);
    };
    const slow: RegistrationsScene['github'] = {
      ...scene.github,
      asInstallation: (...given) => {
        const client = scene.github.asInstallation(...given);
        client.octokit.hook.before('request', ({ url }) =>
          /\/actions\/runners\/\d+$/.test(url) ? comeBack() : undefined,
        );
        return client;
      },
    };
    expect(await scene.sweep({ github: slow })).toMatchObject({ unused: 2, removed: 0, left: 2 });
    expect(await scene.runners()).toEqual([adopted.name, online.name].toSorted());
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
    expect((await scene.world.github.report()).calls).toMatchObject({
      'actions/list-self-hosted-runners-for-org': 1,
      'actions/list-self-hosted-runners-for-repo': 1,
    });
    const ofUser = database.db.updateTable('workers').where('entity_id', '=', scene.world.user.id);
    await ofUser.set({ created_at: minutesAgo(3_000) }).execute();
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

/** A registration that the next pass removes. Returns its name. */
async function oneDue(): Promise<string> {
  await scene.knowScope(ACME);
  const { name } = await scene.register();
  await listTwice();
  return name;
}

/** GitHub's next list of acme's runners is empty by mistake. */
const listNone = () => {
  const list = { method: 'GET', path: '/orgs/acme/actions/runners$', status: 200 };
  return scene.world.github.failNext({ ...list, body: { total_count: 0, runners: [] } });
};

describe('remove-registrations does nothing', () => {
  test('when a list fails; other entities go on, and the refusal is written down once (C9)', async () => {
    const name = await oneDue();
    await scene.knowScope(TOOL);
    await putInstallation(database.db, installationOf(scene.world.organization));
    await scene.world.github.failNext({ path: '/orgs/acme/actions/runners', status: 403 });
    expect(await scene.sweep()).toMatchObject({ listed: 1, failed: 1, removed: 0 });
    expect(scene.told('runnersNotRead')).toMatchObject([['acme', { kind: 'forbidden' }]]);
    expect(await scene.noted()).toEqual([name]);
    expect(await scene.runners()).toEqual([name]);
    const events = await database.db.selectFrom('installation_events').selectAll().execute();
    const { id: entity_id } = scene.world.organization;
    expect(events).toMatchObject([{ event: 'auth_attempt.other_error', entity_id }]);
    expect(await scene.sweep()).toMatchObject({ listed: 1, failed: 0, removed: 0 });
  });

  test('when such lists have come for long, and GitHub may know one of ours by its id; when it knows none, the list is believed', async () => {
    const name = await oneDue();
    const schedule = await putFailedLong(database.db, scene.world.organization.id);
    const { runnerId, name: alive } = await scene.register();
    await scene.knowScope(ACME, { status: 'running', pod_name: alive, runner_id: runnerId });
    await listNone();
    expect(await scene.sweep({ pass: { schedule } })).toMatchObject({ listed: 0, failed: 1 });
    expect(await scene.noted()).toEqual([name]);
    expect(scene.told('runnersMissing')).toEqual([['acme', 1]]);
    // The id of an adopted worker is not known.
    for (const given of [{ runner_id: null }, { runner_id: 999 }]) {
      await database.db.updateTable('workers').set(given).execute();
      await listNone();
      const pass = given.runner_id === null ? { schedule } : {};
      expect(await scene.sweep({ pass })).toMatchObject({ listed: 0, failed: 1 });
      expect(await scene.noted()).toEqual([name]);
    }
    await listNone();
    expect(await scene.sweep({ pass: { schedule } })).toEqual({ ...NOTHING, listed: 1 });
    expect(await scene.noted()).toEqual([]);
  });

  test('to any registration without a row of an entity that has more of them than their cap; others go, at most as many as a pass may remove', async () => {
    for (let nth = 0; nth < 3; nth++) await scene.fail();
    const strays: string[] = [];
    for (let nth = 0; nth < 3; nth++) strays.push((await scene.register()).name);
    await scene.knowScope(TOOL);
    await scene.register(TOOL);
    await listTwice();
    const counts = { listed: 2, unused: 7, removed: 4, overCap: 3 };
    const config = { strayRegistrationCap: 2 };
    expect(await scene.sweep({ config })).toEqual({ ...NOTHING, ...counts });
    expect(scene.told('tooManyStrays')).toEqual([['acme', 3, 2]]);
    expect(await scene.runners()).toEqual(strays.toSorted());
    // The others beyond the cap of a pass go with the next one.
    const more = { strayRegistrationCap: 3, registrationsOfPass: 2 };
    for (const removed of [2, 1])
      expect(await scene.sweep({ config: more })).toMatchObject({ removed, overCap: 0, failed: 0 });
  });
});

describe('remove-registrations is made good by later passes', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('when call %d to GitHub fails', async (after) => {
    await oneDue();
    await scene.fail(TOOL);
    await scene.world.github.failNext({ path: '/', status: 502, after });
    for (let pass = 0; pass < 4; pass++) {
      await scene.sweep();
      await scene.passHours();
    }
    expect(await scene.runners()).toEqual([]);
    expect(await scene.noted()).toEqual([]);
  });

  test('when the answer to a removal was lost', async () => {
    await oneDue();
    const path = '/actions/runners/';
    await scene.world.github.failNext({ method: 'DELETE', path, afterCommit: true });
    expect(await scene.sweep()).toMatchObject({ removed: 0 });
    expect(await scene.sweep()).toMatchObject({ unused: 0, removed: 0 });
    expect(await scene.noted()).toEqual([]);
  });
});

test('registrations go although the lists before took all the time of a pass', async () => {
  await oneDue();
  await scene.knowScope(TOOL);
  let now = 0;
  const pass = { clock: () => (now += 40), shareMs: 100 };
  expect(await scene.sweep({ pass })).toMatchObject({ listed: 2, removed: 1 });
});

describe('the Secret of a registration that is left (E6)', () => {
  const namespace = 'default';

  /** As a restore of the database leaves it, to a moment before the worker's row was made. */
  async function secretDue(): Promise<{ namespace: string; name: string }> {
    await putPools(database.db, { pools: [{ namespace }] });
    await scene.knowScope(ACME);
    const { name, jitConfig } = await scene.register();
    await createSecret(scene.cluster, runnerSecret({ ...identityOf(name), jitConfig }));
    await scene.sweep();
    expect(await secretExists(scene.cluster, { namespace, name })).toBe(true);
    await scene.passHours();
    return { namespace, name };
  }

  const identityOf = (name: string) => ({
    namespace,
    name,
    instance: scene.instance,
    pool: 'linux',
    image: 'example.test/runner:1',
    entityId: scene.world.organization.id,
    scopeRepoId: 0,
  });

  test('goes with the registration, also with neither row nor pod; a dry run leaves both', async () => {
    const secret = await secretDue();
    expect(await scene.sweep({ dryRun: true })).toMatchObject({ removed: 1, secrets: 0 });
    expect(await secretExists(scene.cluster, secret)).toBe(true);
    expect(await scene.sweep()).toMatchObject({ removed: 1, secrets: 1 });
    expect(await secretExists(scene.cluster, secret)).toBe(false);
    expect(await scene.runners()).toEqual([]);
  });

  test('stays for a pod that is to be adopted, and its registration with it', async () => {
    const secret = await secretDue();
    await createPod(scene.cluster, runnerPod(identityOf(secret.name)));
    expect(await scene.sweep()).toMatchObject({ removed: 0, secrets: 0, left: 1 });
    expect(await secretExists(scene.cluster, secret)).toBe(true);
    expect(await scene.runners()).toEqual([secret.name]);
  });

  test('of a failed worker goes with the registration although its ended pod is kept for its log', async () => {
    const secret = await secretDue();
    await scene.knowScope(ACME, { status: 'failed', pod_name: secret.name });
    // The Secret is in the worker's own namespace, which no pool may have now.
    await putPools(database.db, { pools: [{ namespace: 'other' }] });
    const spec = { containers: [{ name: 'runner', image: 'runner:1' }] };
    await createPod(scene.cluster, { metadata: secret, spec });
    const found = () => findPod(scene.cluster, secret);
    await waitFor('the pod to run', async () => (await found())?.phase === 'Running');
    expect(await scene.sweep()).toMatchObject({ removed: 0, secrets: 0, left: 1 });
    expect(await scene.runners()).toEqual([secret.name]);
    scene.kube.endPod({ ...secret, end: 'failed' });
    await waitFor('the pod to end', async () => (await found())?.containersTerminated);
    expect(await scene.sweep()).toMatchObject({ removed: 1, secrets: 1 });
    expect(await scene.runners()).toEqual([]);
  });

  test.each([0, 1])('goes with the next pass when call %d to the cluster fails', async (after) => {
    const secret = await secretDue();
    scene.kube.failNext({ status: 503, after });
    expect(await scene.sweep()).toMatchObject({ removed: 0, failed: 1 });
    const told = scene.told('registrationSecretNotRemoved');
    expect(told).toMatchObject([[secret.name, { kind: 'unavailable' }]]);
    expect(await scene.sweep()).toMatchObject({ removed: 1, secrets: 1 });
    expect(await secretExists(scene.cluster, secret)).toBe(false);
  });
});
