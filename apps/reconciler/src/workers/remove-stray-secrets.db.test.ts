import { createPod } from '@paddock/kube/pods';
import { runnerPod, runnerSecret } from '@paddock/kube/runner-pod';
import { createSecret, secretExists } from '@paddock/kube/secrets';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ACME, startStrayScene, type StrayScene } from '../scenes/stray-registrations.scene.ts';

const database = useTestDatabase();
let scene: StrayScene;

beforeEach(async () => {
  scene = await startStrayScene(database);
});
afterEach(() => scene.stop());

describe('a Secret with neither row nor pod (E6)', () => {
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

  test('goes with the registration that it is for', async () => {
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
