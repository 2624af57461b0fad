import type { ChartObject } from '@paddock/testing/render-chart';
import type { ChartCluster } from './chart-cluster.scene.ts';
import { type Place, type PlayedContainer, startContainer } from './play-container.scene.ts';
import { endpointsOf, podAddress } from './play-service.scene.ts';
import type { PlayedPod } from './played-pod.scene.ts';

type End = Awaited<ReturnType<PlayedContainer['end']>>;

/** Runs the services' pods that the cluster's controllers make, until they delete them. */
export interface Kubelet {
  /** Starts new pods and ends deleted ones; rejects if one could not start. */
  look(): Promise<void>;
  /** Those that have become ready and have not been ended. */
  running(): readonly PlayedContainer[];
  /** How the ended ones ended. */
  readonly ends: readonly End[];
  endAll(): Promise<void>;
}

interface KubeletOptions {
  readonly cluster: ChartCluster;
  readonly namespace: string;
  /** The first address that it may give to a pod. */
  readonly addressOf: (number: number) => string;
  /** What a new pod's token is bound to; the pod by default. */
  readonly boundTo?: () => ChartObject | undefined;
  readonly hosts?: Place['hosts'];
  /** What must no longer lead to a pod before its `preStop` hook ends. */
  readonly service?: ChartObject;
}

/** Says that a pod is ready at a loopback address. */
export async function markReady(
  cluster: ChartCluster,
  pod: PlayedPod,
  address: string,
): Promise<void> {
  const podIP = podAddress(address);
  const conditions = [{ type: 'Ready', status: 'True' }];
  const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions };
  await cluster.patch(pod, { status }, '/status');
}

const PODS = 'app.kubernetes.io/component in (ingress,scheduler,reconciler,console)';

export function createKubelet({
  cluster,
  namespace,
  addressOf,
  boundTo,
  hosts,
  service,
}: KubeletOptions): Kubelet {
  const starting = new Map<string, Promise<unknown>>();
  const running = new Map<string, PlayedContainer>();
  const ends: End[] = [];
  const failures: unknown[] = [];
  let last = 0;
  const start = async (pod: PlayedPod): Promise<void> => {
    last += 1;
    const address = addressOf(last);
    const container = await startContainer({ cluster, address, boundTo: boundTo?.(), hosts }, pod);
    running.set(pod.metadata.uid, container);
    await container.untilReady();
    await markReady(cluster, pod, address);
  };
  const end = async (
    uid: string,
    container: PlayedContainer,
    isForgotten?: () => Promise<boolean>,
  ): Promise<void> => {
    running.delete(uid);
    ends.push(await container.end(isForgotten));
  };
  /** Ends a deleted pod's container. */
  const endDeleted = (uid: string, container: PlayedContainer): Promise<void> =>
    end(uid, container, async () => {
      const led = service === undefined ? [] : await endpointsOf(cluster, service);
      return !led.some(({ host }) => host === container.address);
    });
  const watched = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => failures.push(error));
  return {
    async look() {
      const pods = (await cluster.list('Pod', namespace, PODS)) as unknown as PlayedPod[];
      const wanted = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      for (const pod of wanted)
        if (!starting.has(pod.metadata.uid)) starting.set(pod.metadata.uid, watched(start(pod)));
      const uids = new Set(wanted.map(({ metadata }) => metadata.uid));
      for (const [uid, container] of running) {
        if (!uids.has(uid)) starting.set(`the end of ${uid}`, watched(endDeleted(uid, container)));
      }
      if (failures.length > 0) throw new AggregateError(failures, failures.join('\n'));
    },
    running: () => [...running.values()],
    ends,
    async endAll() {
      await Promise.all(starting.values());
      await Promise.all([...running].map(([uid, container]) => end(uid, container)));
    },
  };
}
