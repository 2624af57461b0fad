import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { startRealCluster } from '@paddock/testing/real-cluster';
import { readFile, writeFile } from 'node:fs/promises';
import { callJson, objectPath } from './call.ts';
import { type Cluster, connectCluster } from './connect.ts';
import { podEvents } from './events.ts';
import { readLogTail } from './logs.ts';
import { createPod, deletePod, findPod, listPods } from './pods.ts';
import { probeCluster } from './probe.ts';
import { runnerPod, runnerSecret } from './runner-pod.ts';
import {
  RUNNING,
  containerStatus,
  eventAbout,
  failureOf,
  setPodStatus,
  workerOf,
} from './scenes/contract-parts.scene.ts';
import { createSecret, deleteSecret, secretExists, setSecretOwner } from './secrets.ts';
import { watchingContract } from './watching.contract.ts';

const namespace = 'runners';

interface ContractCluster {
  readonly cluster: Cluster;
  /** The same address with credentials that the cluster does not know. */
  readonly stranger: Cluster;
  /** A version of pods that the cluster no longer knows. */
  tooOldVersion(): string;
  stop(): Promise<void>;
}

/**
 * The behaviour of every cluster that this package relies on. There is no scheduler and no kubelet:
 * a test sets pods' status itself.
 */
function clusterContract(name: string, connect: () => Promise<ContractCluster>): void {
  // eslint-disable-next-line jest/valid-title -- the title says which cluster it is
  describe(name, () => {
    let cluster: Cluster;
    let stranger: Cluster;
    let stop: (() => Promise<void>) | undefined;
    let tooOldVersion: () => string;
    let made = 0;

    beforeAll(async () => {
      ({ cluster, stranger, stop, tooOldVersion } = await connect());
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      await callJson(cluster, { method: 'POST', path: '/api/v1/namespaces', body });
    });
    afterAll(async () => stop?.());

    const newWorker = (instance = `i${++made}`) => workerOf(instance, `pdk-${instance}-${++made}`);
    const setStatus = (pod: string, status: object) =>
      setPodStatus(cluster, { namespace, name: pod }, status);

    probeContract(() => ({ cluster, stranger }));

    describe('pods', () => {
      test('a pod is created once, and found again with its labels and annotations (C6, E6)', async () => {
        const entity = {
          type: 'User',
          name: 'mona',
          appId: 12,
          installationId: 345,
          repoFullName: 'mona/dot.files',
        } as const;
        const worker = { ...newWorker(), madeForJobId: 7_000_000_001, deliveryGuid: 'd-1', entity };
        const { uid, outcome } = await createPod(cluster, runnerPod(worker));
        expect(outcome).toBe('created');
        expect(await createPod(cluster, runnerPod(worker))).toEqual({
          outcome: 'exists',
          uid,
          warnings: [],
        });
        const { name: called, image, ...marks } = worker;
        const found = await findPod(cluster, worker);
        expect(found).toMatchObject({
          name: called,
          namespace,
          image,
          uid,
          phase: 'Pending',
          containersTerminated: false,
        });
        expect({ ...found?.worker, namespace }).toEqual(marks);
      });

      test('a pod that is not there, or was only tried, is absent', async () => {
        const tried = newWorker();
        await createPod(cluster, runnerPod(tried), { dryRun: true });
        expect(await findPod(cluster, tried)).toBeUndefined();
        expect(await findPod(cluster, { namespace, name: 'missing' })).toBeUndefined();
        expect(await deletePod(cluster, { namespace, name: 'missing' })).toBe('absent');
      });

      test('a manifest that breaks a rule is refused as invalid, a namespace that is not there is not_found', async () => {
        const [bad, nowhere] = [
          runnerPod({ ...newWorker(), image: '' }),
          runnerPod({ ...newWorker(), namespace: 'nowhere' }),
        ];
        await expect(failureOf(createPod(cluster, bad))).resolves.toMatchObject({
          kind: 'invalid',
          status: 422,
          reason: 'Invalid',
        });
        await expect(failureOf(createPod(cluster, nowhere))).resolves.toMatchObject({
          kind: 'not_found',
          status: 404,
        });
      });

      test('credentials that the cluster does not know are unauthorized', async () => {
        await expect(failureOf(findPod(stranger, newWorker()))).resolves.toMatchObject({
          kind: 'unauthorized',
          status: 401,
        });
      });

      test('a pod is deleted only as it was seen: another uid or a later version changes nothing (E5)', async () => {
        const worker = newWorker();
        const { uid } = await createPod(cluster, runnerPod(worker));
        const seen = await findPod(cluster, worker);
        await setStatus(worker.name, RUNNING);
        expect(
          await deletePod(cluster, { ...worker, uid: '00000000-0000-0000-0000-000000000000' }),
        ).toBe('changed');
        expect(
          await deletePod(cluster, { ...worker, uid, resourceVersion: seen?.resourceVersion }),
        ).toBe('changed');
        const now = await findPod(cluster, worker);
        expect(now?.phase).toBe('Running');
        expect(
          await deletePod(cluster, { ...worker, uid, resourceVersion: now?.resourceVersion }),
        ).toBe('deleted');
        expect(await findPod(cluster, worker)).toBeUndefined();
      });

      test('a kubelet’s status is read with its instants, and with its texts made storable (A3, P6)', async () => {
        const worker = newWorker();
        await createPod(cluster, runnerPod(worker));
        const [startedAt, finishedAt] = ['2026-11-20T10:00:02Z', '2026-11-20T10:05:00Z'];
        const terminated = {
          exitCode: 7,
          reason: 'Error',
          message: 'last \0 words',
          startedAt,
          finishedAt,
        };
        await setStatus(worker.name, {
          ...RUNNING,
          phase: 'Failed',
          containerStatuses: [containerStatus({ terminated })],
        });
        expect(await findPod(cluster, worker)).toMatchObject({
          phase: 'Failed',
          runningAt: new Date(startedAt),
          endedAt: new Date(finishedAt),
          runner: {
            state: 'terminated',
            exitCode: 7,
            reason: 'Error',
            message: 'last \uFFFD words',
          },
          containersTerminated: true,
        });
      });

      test('a list is read in pages, all of one version, and shows its own instance only (A8, C8)', async () => {
        const workers = Array.from({ length: 7 }, () => newWorker('paged'));
        for (const worker of [...workers, newWorker('other')])
          await createPod(cluster, runnerPod(worker));
        const { pods, resourceVersion } = await listPods(cluster, {
          namespace,
          instance: 'paged',
          pageSize: 3,
        });
        expect(pods.map((pod) => pod.name).toSorted()).toEqual(
          workers.map((worker) => worker.name).toSorted(),
        );
        expect(Number(resourceVersion)).toBeGreaterThan(0);
      });

      test('reports a log that cannot be read as such, with the reason (E5)', async () => {
        const tail = { namespace, tailLines: 10, maxBytes: 1000 };
        const missing = { ...tail, name: 'missing', container: 'runner' };
        expect(await readLogTail(cluster, missing)).toMatchObject({
          unreadable: { kind: 'not_found', status: 404 },
        });
        const { name: there } = newWorker();
        await createPod(cluster, runnerPod(workerOf('logs', there)));
        const other = { ...tail, name: there, container: 'no-such' };
        expect(await readLogTail(cluster, other)).toMatchObject({
          unreadable: { kind: 'invalid', status: 400 },
        });
      });

      test('the events of one pod are found by its name and uid', async () => {
        const worker = newWorker();
        const { uid } = await createPod(cluster, runnerPod(worker));
        for (const [pod, message] of [
          [worker.name, 'no node fits'],
          ['another', 'not ours'],
        ]) {
          await callJson(cluster, {
            method: 'POST',
            path: objectPath(namespace, 'events'),
            body: eventAbout(pod ?? '', uid, message ?? ''),
          });
        }
        expect(await podEvents(cluster, { ...worker, uid })).toEqual([
          {
            type: 'Warning',
            reason: 'FailedScheduling',
            message: 'no node fits',
            count: 3,
            source: 'default-scheduler',
            firstAt: new Date('2026-11-20T10:00:00Z'),
            lastAt: new Date('2026-11-20T10:01:00Z'),
          },
        ]);
      });
    });

    describe('Secrets', () => {
      test('a Secret is tried, created once, seen without its content, and deleted (C6)', async () => {
        const worker = { ...newWorker(), jitConfig: 'aml0' };
        expect(await createSecret(cluster, runnerSecret(worker), { dryRun: true })).toBe('created');
        expect(await secretExists(cluster, worker)).toBe(false);
        expect(await createSecret(cluster, runnerSecret(worker))).toBe('created');
        expect(await createSecret(cluster, runnerSecret(worker))).toBe('exists');
        expect(await secretExists(cluster, worker)).toBe(true);
        expect([await deleteSecret(cluster, worker), await deleteSecret(cluster, worker)]).toEqual([
          'deleted',
          'absent',
        ]);
      });

      test('its owner is set though its content is immutable, and setting it again changes nothing', async () => {
        const worker = { ...newWorker(), jitConfig: 'aml0' };
        await createSecret(cluster, runnerSecret(worker));
        const { uid } = await createPod(cluster, runnerPod(worker));
        const owner = { namespace, name: worker.name, podName: worker.name, podUid: uid };
        expect(await setSecretOwner(cluster, owner)).toBe('owned');
        const read = () =>
          callJson(cluster, { method: 'GET', path: objectPath(namespace, 'secrets', worker.name) });
        const once = await read();
        expect(once).toMatchObject({
          metadata: { ownerReferences: [{ kind: 'Pod', name: worker.name, uid }] },
        });
        expect(await setSecretOwner(cluster, owner)).toBe('owned');
        expect(await read()).toEqual(once);
      });

      test('the cluster’s words about a bad Secret are kept out of the error', async () => {
        const secret = Object.assign(runnerSecret({ ...newWorker(), jitConfig: '' }), {
          data: { jitconfig: '!sensitive!' },
        });
        const failure = await failureOf(createSecret(cluster, secret));
        expect(failure).toMatchObject({ kind: 'invalid', status: 400 });
        expect(failure?.message).not.toContain('sensitive');
      });
    });

    watchingContract({ newWorker, setStatus, clusters: () => ({ cluster, tooOldVersion }) });
  });
}

/**
 * Every cluster's answers to a probe; `stranger` has credentials that the cluster does not know.
 */
function probeContract(
  clusters: () => { readonly cluster: Cluster; readonly stranger: Cluster },
): void {
  describe('a probe', () => {
    test('is answered only to callers that the server knows', async () => {
      const { cluster, stranger } = clusters();
      const { signal } = new AbortController();
      expect(await probeCluster(cluster, signal)).toBeUndefined();
      expect(await probeCluster(stranger, signal)).toContain('401');
    });

    test('is over with its signal', async () => {
      expect(await probeCluster(clusters().cluster, AbortSignal.abort())).toContain('abort');
    });
  });
}

const assets = process.env['KUBEBUILDER_ASSETS'];

if (assets === undefined || assets === '') {
} else {
  clusterContract('a real kube-apiserver', async () => {
    const real = await startRealCluster(assets);
    const strangersFile = `${real.kubeconfigFile}-stranger`;
    const text = await readFile(real.kubeconfigFile, 'utf8');
    await writeFile(strangersFile, text.replace(/"token":"\w+"/, '"token":"wrong"'));
    const cluster = connectCluster({
      kubeconfigFile: real.kubeconfigFile,
      requestTimeoutMs: 20_000,
    });
    const stranger = connectCluster({ kubeconfigFile: strangersFile, requestTimeoutMs: 20_000 });
    return {
      cluster,
      stranger,
      // Before the server's own start.
      tooOldVersion: () => '1',
      stop: async () => {
        cluster.close();
        stranger.close();
        await real.stop();
      },
    };
  });
}

clusterContract('the simulated cluster', async () => {
  const simulator = await startKubeSimulator({ kubelet: false });
  const kubeconfigFile = simulator.writeKubeconfig();
  const strangersFile = `${kubeconfigFile}-stranger`;
  await writeFile(strangersFile, simulator.kubeconfig.replace(/"token":"\w+"/, '"token":"wrong"'));
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 20_000 });
  const stranger = connectCluster({ kubeconfigFile: strangersFile, requestTimeoutMs: 20_000 });
  return {
    cluster,
    stranger,
    tooOldVersion: () => {
      simulator.compact();
      return '1';
    },
    stop: async () => {
      cluster.close();
      stranger.close();
      await simulator.stop();
    },
  };
});
