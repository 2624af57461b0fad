import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { coreApi } from '@paddock/kube/core-api';
import { unless } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { deletePod, listPods } from '@paddock/kube/pods';
import { JIT_CONFIG_KEY } from '@paddock/kube/runner-pod';
import { watchPods } from '@paddock/kube/watch-pods';
import { playRunner } from '@paddock/simulators/github/play-runner';

export interface PlayedCluster {
  /** Rejects when following the pods fails; never resolves before `stop`. */
  playing: Promise<void>;
  /** Ends the runners and deletes the demo's pods. */
  stop(): Promise<void>;
}

const END = 'test.paddock/end';

/**
 * Of this many pods, one loses its place before its runner has begun: its node evicts it, and its
 * job gets another worker.
 */
const EVICTED_EVERY = 20;

/**
 * Plays the runner inside each of our pods that a real API server calls Running, on nodes that KWOK
 * simulates. It reads the JIT config from the Secret as the kubelet would hand it over, works at
 * the simulated GitHub, and asks by annotation for the end that the process would have had.
 */
export async function playInCluster(
  kubeconfigFile: string,
  namespace: string,
  instance: string,
): Promise<PlayedCluster> {
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 30_000 });
  await ensureNamespace(cluster, namespace);
  const stop = new AbortController();
  const runners = new Map<string, { over: AbortController; done: Promise<void> }>();
  const meet = (pod: ObservedPod): void => {
    if (pod.phase !== 'Running' || runners.has(pod.uid)) return;
    const over = new AbortController();
    const signal = AbortSignal.any([stop.signal, over.signal]);
    const isEvicted = (runners.size + 1) % EVICTED_EVERY === 0;
    const done = isEvicted
      ? end(cluster, namespace, pod.name, { [END]: 'evicted' })
      : playPod(cluster, namespace, pod.name, signal);
    runners.set(pod.uid, { over, done });
  };
  const leave = ({ uid }: ObservedPod): void => runners.get(uid)?.over.abort();
  const playing = watchPods(
    cluster,
    {
      namespace,
      instance,
      onList: (pods) => Promise.resolve(pods.forEach(meet)),
      onChanges: (changes) =>
        Promise.resolve(
          changes.forEach(({ type, pod }) => (type === 'deleted' ? leave(pod) : meet(pod))),
        ),
    },
    stop.signal,
  );
  return {
    playing,
    async stop() {
      stop.abort();
      await Promise.allSettled([playing, ...[...runners.values()].map(({ done }) => done)]);
      const { pods } = await listPods(cluster, { namespace, instance });
      for (const { name, uid } of pods) await deletePod(cluster, { namespace, name, uid });
      cluster.close();
    },
  };
}

async function ensureNamespace(cluster: Cluster, name: string): Promise<void> {
  await unless('exists', coreApi(cluster).createNamespace({ body: { metadata: { name } } }));
}

async function playPod(
  cluster: Cluster,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { data } = await coreApi(cluster).readNamespacedSecret({ namespace, name });
  const jitConfig = Buffer.from(data?.[JIT_CONFIG_KEY] ?? '', 'base64').toString('utf8');
  const { exitCode } = await playRunner(jitConfig, signal);
  if (signal.aborted) return;
  await end(cluster, namespace, name, {
    [END]: exitCode === 0 ? 'succeeded' : 'failed',
    'test.paddock/exit-code': String(exitCode),
  });
}

/** Asks KWOK for a pod's end. */
async function end(
  cluster: Cluster,
  namespace: string,
  name: string,
  annotations: Record<string, string>,
): Promise<void> {
  const api = coreApi(cluster, { contentType: 'application/merge-patch+json' });
  await api.patchNamespacedPod({ namespace, name, body: { metadata: { annotations } } });
}
