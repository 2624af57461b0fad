import { createPod, findPod } from '@paddock/kube/pods';
import { runnerPod, runnerSecret } from '@paddock/kube/runner-pod';
import { createSecret, secretExists } from '@paddock/kube/secrets';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { describe, expect, test } from '@jest/globals';
import { ACME } from '../scenes/registrations.scene.ts';
import { useRegistrationsScene } from '../scenes/use-scenes.scene.ts';

const database = useTestDatabase();
const scene = useRegistrationsScene(database);

/** A pod whose containers run; its runner is none that GitHub knows. */
async function putRunningPod({ namespace, name }: { namespace: string; name: string }) {
  await createPod(scene.cluster, {
    metadata: { namespace, name },
    spec: { containers: [{ name: 'runner', image: 'runner:1' }] },
  });
  await waitFor(
    'the pod to run',
    async () => (await findPod(scene.cluster, { namespace, name }))?.phase === 'Running',
  );
}

describe('the Secret of a registration that is left (E6)', () => {
  const NAMESPACE = 'default';

  /** As a restore of the database leaves it, to a moment before the worker's row was made. */
  async function secretDue(): Promise<{ namespace: string; name: string }> {
    await putPools(database.db, examplePools({ pools: [{ namespace: NAMESPACE }] }));
    await scene.knowScope(ACME);
    const { name, jitConfig } = await scene.register();
    await createSecret(scene.cluster, runnerSecret({ ...identityOf(name), jitConfig }));
    await scene.sweep();
    expect(await secretExists(scene.cluster, { namespace: NAMESPACE, name })).toBe(true);
    await scene.passHours();
    return { namespace: NAMESPACE, name };
  }

  const identityOf = (name: string) => ({
    namespace: NAMESPACE,
    name,
    instance: scene.instance,
    pool: 'linux',
    image: 'example.test/runner:1',
    entityId: scene.world.organization.id,
    scopeRepoId: 0,
  });

  test('goes with the registration, also with neither row nor pod', async () => {
    const secret = await secretDue();
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
    await putRunningPod(secret);
    expect(await scene.sweep()).toMatchObject({ removed: 0, secrets: 0, left: 1 });
    expect(await scene.runners()).toEqual([secret.name]);
    scene.kube.endPod({ ...secret, end: 'failed' });
    await waitFor(
      'the pod to end',
      async () => (await findPod(scene.cluster, secret))?.containersTerminated,
    );
    expect(await scene.sweep()).toMatchObject({ removed: 1, secrets: 1 });
    expect(await scene.runners()).toEqual([]);
  });

  test('of a failed worker is looked for in the worker’s own namespace, which no pool may have now', async () => {
    const secret = await secretDue();
    await scene.knowScope(ACME, { status: 'failed', pod_name: secret.name });
    await putPools(database.db, examplePools({ pools: [{ namespace: 'other' }] }));
    expect(await scene.sweep()).toMatchObject({ removed: 1, secrets: 1 });
    expect(await secretExists(scene.cluster, secret)).toBe(false);
  });

  test('is left by a dry run', async () => {
    const secret = await secretDue();
    expect(await scene.sweep({ dryRun: true })).toMatchObject({ removed: 1, secrets: 0 });
    expect(await secretExists(scene.cluster, secret)).toBe(true);
  });

  test.each([0, 1])(
    'is removed by the next pass when call %d to the cluster fails',
    async (after) => {
      const secret = await secretDue();
      scene.kube.failNext({ status: 503, after });
      expect(await scene.sweep()).toMatchObject({ removed: 0, failed: 1 });
      expect(scene.told).toEqual([`Secret ${secret.name}: unavailable`]);
      expect(await scene.sweep()).toMatchObject({ removed: 1, secrets: 1 });
      expect(await secretExists(scene.cluster, secret)).toBe(false);
    },
  );
});
