import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deploy } from '@paddock/testing/cluster-rights';
import { findAssets } from '@paddock/testing/played-nodes';
import { waitFor } from '@paddock/testing/wait-for';
import { type RealWorld, startRealWorld } from '../scenes/real-cluster.scene.ts';

const assets = findAssets();
const described = assets === undefined ? describe.skip : describe;

const BUDGET = '/apis/policy/v1/namespaces/runners/poddisruptionbudgets/paddock-runners';

described(
  'the disruption budget in deploy/kubernetes (H3; needs KUBEBUILDER_ASSETS with kube-controller-manager and kwok)',
  () => {
    let world: RealWorld;
    let stopFollowing: () => Promise<void>;
    beforeAll(async () => {
      world = await startRealWorld(assets ?? '');
      stopFollowing = world.follow();
    });
    afterAll(async () => {
      await stopFollowing();
      await world.stop();
    });

    /** The call of `kubectl drain` for each pod of a node. */
    const evict = (name: string) =>
      world.admin('POST', `/api/v1/namespaces/runners/pods/${name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace: 'runners' },
      });
    const row = async (name: string) =>
      (await world.workers()).find((worker) => worker.pod_name === name);

    test('an eviction is refused while the runner runs, and taken when it has ended, or without the budget (H3, P2)', async () => {
      await world.queueJob();
      await world.queueJob();
      await world.drive(
        'the workers to run',
        async () =>
          (await world.workers()).filter(({ status }) => status === 'running').length === 2,
      );
      const [busy = '', ended = ''] = (await world.workers()).map(({ pod_name: name }) => name);

      await deploy(world.admin, 'pod-disruption-budget.yaml', 'runners');
      const budgetKnows = async (expected: object) => {
        const { status } = (await world.admin('GET', BUDGET)) as {
          status?: Record<string, unknown>;
        };
        return Object.entries(expected).every(([key, value]) => status?.[key] === value);
      };
      await waitFor('the controller to have counted', () =>
        budgetKnows({ currentHealthy: 2, disruptionsAllowed: 0 }),
      );
      await expect(evict(busy)).rejects.toThrow(/was answered 429: .*disruption budget/s);
      await expect(evict(ended)).rejects.toThrow(/was answered 429/);
      expect(await row(busy)).toMatchObject({ status: 'running', stopping_at: null });

      await world.annotate(ended, { 'test.paddock/end': 'succeeded' });
      await waitFor('the row to end', async () => (await row(ended))?.status === 'completed');
      await evict(ended);
      await expect(evict(busy)).rejects.toThrow(/was answered 429/);

      await world.admin('DELETE', BUDGET);
      await evict(busy);
      await waitFor('the pod to be missed', async () => (await row(busy))?.stopping_at !== null);
      expect(await row(busy)).toMatchObject({ status: 'running', stop_reason: 'pod_gone' });
    });
  },
);
