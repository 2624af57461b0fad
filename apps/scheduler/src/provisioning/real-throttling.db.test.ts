import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { callJson, objectPath } from '@paddock/kube/call';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { classifyKubeError, type KubeFailure } from '@paddock/kube/errors';
import { findPod } from '@paddock/kube/pods';
import { waitFor } from '@paddock/testing/wait-for';
import { type RealWorld, startRealWorld } from '../scenes/real-cluster.scene.ts';
import { look, type Seen } from '../scenes/evidence.scene.ts';
import { startWebhook, type Webhook } from '../scenes/webhook.scene.ts';

const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
const described = assets === '' ? describe.skip : describe;

const FLOW_CONTROL = '/apis/flowcontrol.apiserver.k8s.io/v1';
const LEVEL = { name: 'paddock-alone' };
const SLOW = { 'test.paddock/slow': 'yes' };

/**
 * By API priority and fairness the scheduler's entity may have one call under way; any other is
 * answered 429, not queued.
 */
async function limitToOneCall({ admin }: RealWorld): Promise<void> {
  const limited = {
    nominalConcurrencyShares: 0,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Reject' },
  };
  await admin('POST', `${FLOW_CONTROL}/prioritylevelconfigurations`, {
    metadata: LEVEL,
    spec: { type: 'Limited', limited },
  });
  const subjects = [
    { kind: 'ServiceAccount', serviceAccount: { namespace: 'paddock', name: 'paddock-scheduler' } },
  ];
  const resourceRules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }];
  await admin('POST', `${FLOW_CONTROL}/flowschemas`, {
    metadata: LEVEL,
    spec: {
      priorityLevelConfiguration: LEVEL,
      matchingPrecedence: 2,
      rules: [{ subjects, resourceRules }],
    },
  });
}

async function lift({ admin }: RealWorld): Promise<void> {
  await admin('DELETE', `${FLOW_CONTROL}/flowschemas/${LEVEL.name}`);
  await admin('DELETE', `${FLOW_CONTROL}/prioritylevelconfigurations/${LEVEL.name}`);
}

described(
  'a real API server that has no room for our calls (429; needs KUBEBUILDER_ASSETS)',
  () => {
    let world: RealWorld;
    let seen: Seen;
    let webhook: Webhook;
    /** Has the rights of the scheduler, and more time. */
    let patient: Cluster;
    const held: ServerResponse[] = [];
    beforeAll(async () => {
      world = await startRealWorld(assets, {});
      patient = connectCluster({ kubeconfigFile: world.kubeconfigFile, requestTimeoutMs: 60_000 });
      webhook = await startWebhook(world, 'slow', (response) => held.push(response));
      await webhook.install({ timeoutSeconds: 30, labels: SLOW });
    });
    afterAll(async () => {
      patient.close();
      webhook.stop();
      await world.stop();
    });
    beforeEach(async () => {
      await world.reset();
      seen = await look(world);
      await limitToOneCall(world);
    });

    const refusal = (): Promise<KubeFailure | undefined> =>
      findPod(world.cluster, { namespace: 'runners', name: 'missing' }).then(
        () => undefined,
        classifyKubeError,
      );

    /**
     * Takes the one place with a call that a webhook does not let go, until the returned function
     * is called.
     */
    async function takeThePlace(): Promise<() => Promise<void>> {
      const body = {
        metadata: { name: 'slow', labels: SLOW },
        spec: { containers: [{ name: 'runner', image: 'i' }] },
      };
      const call = {
        method: 'POST',
        path: objectPath('runners', 'pods'),
        query: { dryRun: 'All' },
        body,
      } as const;
      const taken = callJson(patient, call).then(() => undefined, classifyKubeError);
      const response = await waitFor('the call to be held', () => held.pop());
      // The limit comes into force a moment after it was written.
      await waitFor('another call to be refused', async () => (await refusal())?.status === 429);
      return async () => {
        response.destroy();
        // The call that held the place gets the webhook's failure.
        expect(await taken).toMatchObject({ status: 500 });
        await lift(world);
        await waitFor('a call to be taken', async () => (await refusal()) === undefined);
      };
    }

    test('no runner is registered meanwhile, the wait that the server asks for is kept, and the reason is reported (C6, C11, P4, P5)', async () => {
      const giveBack = await takeThePlace();
      const jobs = 4;
      for (let job = 0; job < jobs; job += 1) await world.queueJob();
      await world.match();
      const before = Date.now();
      await world.runTasks();
      const due = (await seen.tasks()).map(({ due_at: at }) => at.getTime() - before);
      expect(due.filter((ms) => ms < 1_000)).toEqual([]);
      await world.settle(6);
      await world.queueJob();
      await world.match();

      expect(await seen.registrations()).toEqual([]);
      expect((await seen.tasks()).filter(({ attempt }) => attempt > 0)).toEqual([]);
      // The limit is on calls about objects: the probe asks for none, and is answered.
      expect(await world.outages()).toEqual([]);
      expect(await world.failing()).toMatchObject([
        {
          failureClass: 'cluster_error',
          message: expect.stringContaining('429 Too Many Requests'),
        },
      ]);
      const keys = await world.db.selectFrom('demand_keys').select('wait_reason').execute();
      expect(keys).toEqual([{ wait_reason: 'workers_failing' }]);

      await giveBack();
      await world.drive(
        'all pods to be made',
        async () => (await world.pods()).length === jobs + 1,
      );
      expect(await seen.registrations()).toHaveLength(jobs + 1);
      // Reservations that were given back while the key was paused cost nothing.
      expect((await seen.failures()).filter((reason) => reason !== 'unwanted')).toEqual([]);
      expect(await world.failing()).toEqual([]);
    });

    test('with one place for all, workers are made all the same, each once (C6, P1, P3)', async () => {
      const jobs = 8;
      for (let job = 0; job < jobs; job += 1) await world.queueJob();
      await world.drive(
        'all pods to be made',
        async () => (await world.pods().catch(() => [])).length === jobs,
      );
      await lift(world);
      await world.drive('all to be settled', async () => (await seen.tasks()).length === 0);
      const alive = (await seen.alive()).map(({ pod_name: name }) => name).toSorted();
      expect((await world.pods()).map(({ name }) => name).toSorted()).toEqual(alive);
      expect(alive).toHaveLength(jobs);
      const registered = (await seen.failures()).filter((reason) => reason !== 'unwanted');
      expect(registered.filter((reason) => reason !== 'registration_interrupted')).toEqual([]);
      expect(await seen.registrations()).toHaveLength(jobs + registered.length);
    });
  },
);
