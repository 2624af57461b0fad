import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { coreApi } from '@paddock/kube/core-api';
import { unless } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { deletePod, listPods } from '@paddock/kube/pods';
import { JIT_CONFIG_KEY } from '@paddock/kube/secrets';
import { watchPods } from '@paddock/kube/watch-pods';
import { playRunner } from '@paddock/simulators/github/play-runner';

/**
 * Of this many pods, one loses its place before its runner has begun: its node evicts it, and its
 * job gets another worker.
 */
const EVICTED_EVERY = 20;

/**
 * Plays the runner inside each of our pods that a real API server calls Running, on nodes that KWOK
 * simulates. It reads the JIT config from the Secret as the kubelet would hand it over, works at
 * the simulated GitHub, and asks by annotation for the end that the process would have had.
 * `stop` ends the runners.
 */
export function playInCluster(
  kubeconfigFile: string,
  namespace: string,
  instance: string,
): { stop(): Promise<void> } {
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 30_000 });
  const stop = new AbortController();
  const runners = new Map<string, Promise<void>>();
  const meet = ({ phase, uid, name }: ObservedPod): void => {
    if (phase !== 'Running' || runners.has(uid)) return;
    const isEvicted = (runners.size + 1) % EVICTED_EVERY === 0;
    runners.set(
      uid,
      isEvicted
        ? end(cluster, { namespace, name }, { 'test.paddock/end': 'evicted' })
        : playPod(cluster, { namespace, name }, stop.signal),
    );
  };
  const playing = watchPods(
    cluster,
    {
      namespace,
      instance,
      onList: (pods) => Promise.resolve(pods.forEach(meet)),
      onChanges: (changes) => Promise.resolve(changes.forEach(({ pod }) => meet(pod))),
    },
    stop.signal,
  );
  return {
    async stop() {
      stop.abort();
      await Promise.allSettled([playing, ...runners.values()]);
      cluster.close();
    },
  };
}

/** The same for a namespace of the demo: made if it is missing, and left without the demo's pods. */
export async function borrowNamespace(
  kubeconfigFile: string,
  namespace: string,
  instance: string,
): Promise<() => Promise<void>> {
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 30_000 });
  const body = { metadata: { name: namespace } };
  await unless('exists', coreApi(cluster).createNamespace({ body }));
  const played = playInCluster(kubeconfigFile, namespace, instance);
  return async () => {
    await played.stop();
    const { pods } = await listPods(cluster, { namespace, instance });
    for (const { name, uid } of pods) await deletePod(cluster, { namespace, name, uid });
    cluster.close();
  };
}

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

async function playPod(cluster: Cluster, pod: PodName, signal: AbortSignal): Promise<void> {
  const { data } = await coreApi(cluster).readNamespacedSecret(pod);
  const jitConfig = Buffer.from(data?.[JIT_CONFIG_KEY] ?? '', 'base64').toString('utf8');
  const { exitCode } = await playRunner(jitConfig, signal);
  if (signal.aborted) return;
  await end(cluster, pod, {
    'test.paddock/end': exitCode === 0 ? 'succeeded' : 'failed',
    'test.paddock/exit-code': String(exitCode),
  });
}

/** Asks KWOK for a pod's end. */
async function end(
  cluster: Cluster,
  pod: PodName,
  annotations: Record<string, string>,
): Promise<void> {
  const api = coreApi(cluster, { contentType: 'application/merge-patch+json' });
  await api.patchNamespacedPod({ ...pod, body: { metadata: { annotations } } });
}
