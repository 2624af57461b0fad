import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { startRealCluster } from '@paddock/testing/real-cluster';
import { waitFor } from '@paddock/testing/wait-for';
import { readFile, writeFile } from 'node:fs/promises';
import { callJson, objectPath, probeCluster } from './call.ts';
import { type Cluster, connectCluster } from './connect.ts';
import { classifyKubeError } from './errors.ts';
import { podEvents } from './events.ts';
import { readLog } from './logs.ts';
import { podChanges } from './pod-changes.ts';
import { annotatePod, createPod, deletePod, findPod, listPods } from './pods.ts';
import { runnerPod } from './runner-pod.ts';
import {
  createSecret,
  deleteSecret,
  secretExists,
  setSecretOwner,
  runnerSecret,
} from './secrets.ts';
import { watchPods } from './watch-pods.ts';

const namespace = 'runners';

interface ContractCluster {
  readonly kubeconfigFile: string;
  /** A version of pods that the cluster no longer knows. */
  tooOldVersion(): string;
  stop(): Promise<void>;
}

/** How a call failed, or undefined if it did not. */
const failureOf = (call: Promise<unknown>) => call.then(() => undefined, classifyKubeError);

const containerStatus = (state: object) => ({
  name: 'runner',
  image: 'example.test/runner:1',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
});
/** A pod's status once its containers run. */
const RUNNING = {
  phase: 'Running',
  startTime: '2026-11-20T10:00:00Z',
  containerStatuses: [containerStatus({ running: { startedAt: '2026-11-20T10:00:02Z' } })],
};

/**
 * The behaviour of every cluster that this package relies on. There is no scheduler and no kubelet:
 * a test sets pods' status itself.
 */
function clusterContract(name: string, start: () => Promise<ContractCluster>): void {
  // oxlint-disable-next-line jest/valid-title -- the title says which cluster it is
  describe(name, () => {
    let started: ContractCluster;
    let cluster: Cluster;
    /** The same address with credentials that the cluster does not know. */
    let stranger: Cluster;
    let made = 0;

    beforeAll(async () => {
      started = await start();
      const { kubeconfigFile } = started;
      const strangersFile = `${kubeconfigFile}-stranger`;
      const text = await readFile(kubeconfigFile, 'utf8');
      await writeFile(strangersFile, text.replace(/"token":"\w+"/, '"token":"wrong"'));
      cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 120_000 });
      stranger = connectCluster({ kubeconfigFile: strangersFile, requestTimeoutMs: 120_000 });
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      await callJson(cluster, { method: 'POST', path: '/api/v1/namespaces', body });
    });
    afterAll(async () => {
      cluster.close();
      stranger.close();
      await started.stop();
    });

    const newWorker = (instance = `i${++made}`) => ({
      name: `pdk-${instance}-${++made}`,
      namespace,
      instance,
      pool: 'linux',
      image: 'example.test/runner:1',
      entityId: 42,
      scopeRepoId: 0,
    });
    const read = (what: 'pods' | 'secrets', of: string) =>
      callJson(cluster, { method: 'GET', path: objectPath(namespace, what, of) });
    const createWorker = async (instance?: string) => {
      const worker = newWorker(instance);
      const { uid } = await createPod(cluster, runnerPod(worker));
      return { ...worker, uid };
    };
    const tryWorker = (wrong: object) =>
      failureOf(createPod(cluster, runnerPod({ ...newWorker(), ...wrong })));
    const versionOf = async (worker: ReturnType<typeof newWorker>) =>
      (await listPods(cluster, worker)).resourceVersion;
    const patch = (path: string, body: object) =>
      callJson(cluster, {
        method: 'PATCH',
        path,
        body,
        contentType: 'application/merge-patch+json',
      });
    /** As a kubelet sets it. */
    const setStatus = (pod: string, status: object) =>
      patch(objectPath(namespace, 'pods', pod, 'status'), { status });

    test('a probe is answered only to callers that the server knows, and is over with its signal', async () => {
      const { signal } = new AbortController();
      expect(await probeCluster(cluster, signal)).toBeUndefined();
      expect(await probeCluster(stranger, signal)).toContain('401');
      expect(await probeCluster(cluster, AbortSignal.abort())).toContain('abort');
      expect(await failureOf(findPod(stranger, newWorker()))).toMatchObject({
        kind: 'unauthorized',
        status: 401,
      });
    });

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

      test('a pod says which job it runs, and stays the pod that was asked for (H2)', async () => {
        const worker = await createWorker();
        const url = 'https://github.example.com/acme/api/actions/runs/9';
        const job = { jobId: 7, repository: 'acme/api', workflow: null, url: `${url}/job/7` };
        for (const pod of [worker.name, worker.name, 'missing'])
          await annotatePod(cluster, { namespace, name: pod }, job);
        const annotations = { 'job.paddock.dev/id': '7', 'job.paddock.dev/run-url': url };
        expect(await read('pods', worker.name)).toMatchObject({ metadata: { annotations } });
        expect(await createPod(cluster, runnerPod(worker))).toMatchObject({ warnings: [] });
      });

      test('a manifest that breaks a rule is refused as invalid, a namespace that is not there is not_found', async () => {
        const invalid = { kind: 'invalid', status: 422, reason: 'Invalid' };
        expect(await tryWorker({ image: '' })).toMatchObject(invalid);
        expect(await tryWorker({ namespace: 'nowhere' })).toMatchObject({ kind: 'not_found' });
      });

      test('a pod is deleted only as it was seen: another uid or a later version changes nothing (E5)', async () => {
        const worker = await createWorker();
        const seen = await findPod(cluster, worker);
        await setStatus(worker.name, RUNNING);
        const now = await findPod(cluster, worker);
        expect(now).toMatchObject({ phase: 'Running' });
        const deletions: [object, string][] = [
          [{ uid: '00000000-0000-0000-0000-000000000000' }, 'changed'],
          [{ resourceVersion: seen?.resourceVersion }, 'changed'],
          [{ resourceVersion: now?.resourceVersion }, 'deleted'],
        ];
        for (const [as, result] of deletions)
          expect(await deletePod(cluster, { ...worker, ...as })).toBe(result);
        expect(await findPod(cluster, worker)).toBeUndefined();
      });

      test('a kubelet’s status is read with its instants, and with its texts made storable (A3, P6)', async () => {
        const worker = await createWorker();
        const [startedAt, finishedAt] = ['2026-11-20T10:00:02Z', '2026-11-20T10:05:00Z'];
        const end = { exitCode: 7, reason: 'Error' };
        const terminated = { ...end, message: 'last \0 words', startedAt, finishedAt };
        const containerStatuses = [containerStatus({ terminated })];
        await setStatus(worker.name, { ...RUNNING, phase: 'Failed', containerStatuses });
        expect(await findPod(cluster, worker)).toMatchObject({
          phase: 'Failed',
          runningAt: new Date(startedAt),
          endedAt: new Date(finishedAt),
          runner: { state: 'terminated', ...end, message: 'last \uFFFD words' },
          containersTerminated: true,
        });
      });

      test('a list is read in pages, all of one version, and shows its own instance only (A8, C8)', async () => {
        const names: string[] = [];
        for (let n = 0; n < 7; n += 1) names.push((await createWorker('paged')).name);
        await createWorker('other');
        const paged = { namespace, instance: 'paged', pageSize: 3 };
        const { pods, resourceVersion } = await listPods(cluster, paged);
        expect(pods.map((pod) => pod.name).toSorted()).toEqual(names.toSorted());
        expect(Number(resourceVersion)).toBeGreaterThan(0);
      });

      test('reports a log that cannot be read as such, with the reason (E5)', async () => {
        const tail = { namespace, tailLines: 10 };
        const missing = { ...tail, name: 'missing', container: 'runner' };
        expect(await readLog(cluster, missing)).toMatchObject({
          unreadable: { kind: 'not_found', status: 404 },
        });
        const { name: there } = await createWorker();
        const other = { ...tail, name: there, container: 'no-such' };
        expect(await readLog(cluster, other)).toMatchObject({
          unreadable: { kind: 'invalid', status: 400 },
        });
      });

      test('the events of one pod are found by its name and uid', async () => {
        const worker = await createWorker();
        const said = { type: 'Warning', reason: 'FailedScheduling', message: 'no node fits' };
        for (const pod of [worker.name, 'another'])
          await callJson(cluster, {
            method: 'POST',
            path: objectPath(namespace, 'events'),
            body: {
              ...said,
              apiVersion: 'v1',
              kind: 'Event',
              metadata: { name: `${pod}.1` },
              involvedObject: { kind: 'Pod', name: pod, namespace, uid: worker.uid },
              count: 3,
              firstTimestamp: '2026-11-20T10:00:00Z',
              lastTimestamp: '2026-11-20T10:01:00Z',
              source: { component: 'default-scheduler' },
            },
          });
        expect(await podEvents(cluster, worker)).toEqual([
          {
            ...said,
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
        const create = (how = {}) => createSecret(cluster, runnerSecret(worker), how);
        const remove = () => deleteSecret(cluster, worker);
        expect(await create({ dryRun: true })).toBe('created');
        expect(await secretExists(cluster, worker)).toBe(false);
        expect([await create(), await create()]).toEqual(['created', 'exists']);
        expect(await secretExists(cluster, worker)).toBe(true);
        expect([await remove(), await remove()]).toEqual(['deleted', 'absent']);
      });

      test('its owner is set though its content is immutable, and setting it again changes nothing', async () => {
        const worker = await createWorker();
        const { name: podName, uid } = worker;
        await createSecret(cluster, runnerSecret({ ...worker, jitConfig: 'aml0' }));
        const owner = { namespace, name: podName, podName, podUid: uid };
        expect(await setSecretOwner(cluster, owner)).toBe('owned');
        const once = await read('secrets', worker.name);
        const ownerReferences = [{ kind: 'Pod', name: podName, uid }];
        expect(once).toMatchObject({ metadata: { ownerReferences } });
        expect(await setSecretOwner(cluster, owner)).toBe('owned');
        expect(await read('secrets', worker.name)).toEqual(once);
      });

      test('the cluster’s words about a bad Secret are kept out of the error', async () => {
        const data = { jitconfig: '!sensitive!' };
        const secret = Object.assign(runnerSecret({ ...newWorker(), jitConfig: '' }), { data });
        const failure = await failureOf(createSecret(cluster, secret));
        expect(failure).toMatchObject({ kind: 'invalid', status: 400 });
        expect(failure?.message).not.toContain('sensitive');
      });
    });

    describe('watching', () => {
      const endless = new AbortController();

      test('the list comes first and then each change in order, of only its own instance (A8, C8)', async () => {
        const before = await createWorker('watched');
        const seen: string[] = [];
        const over = new AbortController();
        const watch = watchPods(
          cluster,
          {
            namespace,
            instance: 'watched',
            onList: async (pods) => {
              await Promise.resolve();
              seen.push(...pods.map((pod) => `listed ${pod.name} ${pod.phase}`));
            },
            onChanges: async (changes) => {
              await Promise.resolve();
              seen.push(...changes.map(({ type, pod }) => `${type} ${pod.name} ${pod.phase}`));
            },
          },
          over.signal,
        );
        await waitFor('the list', () => seen.length === 1);
        await createWorker('unwatched');
        const after = await createWorker('watched');
        await setStatus(after.name, RUNNING);
        await deletePod(cluster, after);
        await waitFor('the deletion', () => seen.some((line) => line.startsWith('deleted')));
        over.abort();
        await watch;
        expect(seen).toEqual([
          `listed ${before.name} Pending`,
          `added ${after.name} Pending`,
          `modified ${after.name} Running`,
          // Even a pod that goes at once is first marked with a deletion timestamp.
          `modified ${after.name} Running`,
          // The object of a deletion is the old one.
          `deleted ${after.name} Running`,
        ]);
      });

      test('a watch goes on from an older version without a gap, and shows a pod that loses our labels as deleted', async () => {
        const worker = newWorker();
        const resourceVersion = await versionOf(worker);
        await createPod(cluster, runnerPod(worker));
        await setStatus(worker.name, RUNNING);
        const labels = { 'paddock.dev/instance': 'stolen' };
        await patch(objectPath(namespace, 'pods', worker.name), { metadata: { labels } });
        const watched = { ...worker, resourceVersion, seconds: 30 };
        const seen: unknown[] = [];
        for await (const changes of podChanges(cluster, watched, endless.signal)) {
          seen.push(...changes);
          if (changes.some(({ type }) => type === 'deleted')) break;
        }
        const pod = { name: worker.name, worker: { instance: worker.instance } };
        expect(seen).toMatchObject([
          { type: 'added', pod },
          { type: 'modified', pod },
          { type: 'deleted', pod },
        ]);
      });

      test('a watch from a version that is too old is gone (C8)', async () => {
        const old = { ...newWorker(), resourceVersion: started.tooOldVersion(), seconds: 30 };
        const changes = podChanges(cluster, old, endless.signal);
        const gone = { kind: 'gone', status: 410, reason: 'Expired' };
        expect(await failureOf(changes.next())).toMatchObject(gone);
      });

      test('a watch ends by itself when its time is over', async () => {
        const worker = newWorker();
        const brief = { ...worker, resourceVersion: await versionOf(worker), seconds: 1 };
        const types: string[] = [];
        for await (const changes of podChanges(cluster, brief, endless.signal))
          types.push(...changes.map(({ type }) => type));
        expect(types.filter((type) => type !== 'bookmark')).toEqual([]);
      });
    });
  });
}

const assets = process.env['KUBEBUILDER_ASSETS'];

if (assets === undefined || assets === '') {
} else {
  clusterContract('a real kube-apiserver', async () => {
    const { kubeconfigFile, stop } = await startRealCluster(assets);
    // Before the server's own start.
    return { kubeconfigFile, stop, tooOldVersion: () => '1' };
  });
}

clusterContract('the simulated cluster', async () => {
  const simulator = await startKubeSimulator({ kubelet: false });
  return {
    kubeconfigFile: simulator.writeKubeconfig(),
    stop: simulator.stop,
    tooOldVersion: () => {
      simulator.compact();
      return '1';
    },
  };
});
