import type { Cluster } from '@paddock/kube/connect';
import { coreApi } from '@paddock/kube/core-api';
import { unless } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { pause } from '@paddock/runtime/pause';

/** The number of pods after which either node is full. */
const PODS_EACH = 4;
const LABEL = 'test.paddock/broken';

/**
 * Pods of this template go to the broken nodes as long as there is room, so that every run has some
 * of them.
 */
export const TEMPLATE = {
  spec: {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, preference: { matchExpressions: [{ key: LABEL, operator: 'Exists' }] } },
        ],
      },
    },
  },
};

/** From a node's first pod until the node is cordoned or vanishes, unless it is full before. */
const UNNOTICED_MS = 10_000;

export type NodeFailure = 'image_pull' | 'node_lost';

/** Two extra nodes of the demo, on which all pods fail. */
export interface BrokenNodes {
  /** How a pod on one of them fails before its runner begins. Undefined: it is on another node. */
  take(pod: ObservedPod): NodeFailure | undefined;
  /** Removes the nodes. After that, throws if the demo could not play a part of their failures. */
  remove(): Promise<void>;
}

/**
 * Adds the nodes to the cluster, and plays their kubelets. One cannot pull images; after a while it
 * is cordoned, as by an operator. The other starts pods and leaves the cluster before their runners
 * have begun. The cluster's garbage collector finds its pods within a minute.
 */
export async function addBrokenNodes(
  cluster: Cluster,
  instance: string,
  signal: AbortSignal,
): Promise<BrokenNodes> {
  const nodes = {
    [`demo-${instance}-no-images`]: 'image_pull',
    [`demo-${instance}-lost`]: 'node_lost',
  } as const;
  const api = coreApi(cluster);
  const failureOn: Readonly<Record<string, NodeFailure | undefined>> = nodes;
  for (const name of Object.keys(nodes)) await api.createNode({ body: nodeManifest(name) });
  const taken: Record<NodeFailure, ReturnType<typeof newNode>> = {
    image_pull: newNode(),
    node_lost: newNode(),
  };
  const begun: Promise<unknown>[] = [];
  const problems: unknown[] = [];
  const begin = (work: Promise<unknown>): void => {
    // A pod may be gone meanwhile; any other refusal by the cluster is reported at the end.
    begun.push(unless('not_found', work).catch((error: unknown) => problems.push(error)));
  };

  const patching = coreApi(cluster, { contentType: 'application/merge-patch+json' });
  const say = async (
    { namespace, name, image = '' }: ObservedPod,
    failure: NodeFailure,
  ): Promise<void> => {
    const isLost = failure === 'node_lost';
    const now = new Date().toISOString();
    const state = isLost
      ? { running: { startedAt: now } }
      : { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` } };
    const containerStatuses = [
      { name: 'runner', image, imageID: '', ready: isLost, restartCount: 0, state },
    ];
    const status = { phase: isLost ? 'Running' : 'Pending', startTime: now, containerStatuses };
    await patching.patchNamespacedPodStatus({ namespace, name, body: { status } });
  };
  const vanish = async (node: string): Promise<void> => void (await api.deleteNode({ name: node }));
  const cordon = async (node: string): Promise<void> =>
    void (await patching.patchNode({ name: node, body: { spec: { unschedulable: true } } }));
  const finish = { image_pull: cordon, node_lost: vanish };

  return {
    take(pod) {
      const { nodeName = '', uid, deletionTimestamp } = pod;
      const failure = failureOn[nodeName];
      if (failure === undefined) return undefined;
      const { pods, full } = taken[failure];
      if (pods.size === 0)
        begin(
          Promise.race([pause(UNNOTICED_MS, signal), full.promise]).then(() =>
            finish[failure](nodeName),
          ),
        );
      if (!pods.has(uid)) begin(say(pod, failure));
      else if (deletionTimestamp !== undefined && failure === 'image_pull')
        begin(letGo(cluster, pod));
      pods.add(uid);
      if (pods.size === PODS_EACH) full.resolve();
      return failure;
    },
    async remove() {
      await Promise.all(begun);
      for (const name of Object.keys(nodes)) await unless('not_found', vanish(name));
      if (problems.length > 0)
        throw new AggregateError(
          problems,
          'The cluster did not let the demo play its two broken nodes.',
        );
    },
  };
}

const newNode = () => ({ pods: new Set<string>(), full: Promise.withResolvers<void>() });

/** Acts as the kubelet once the pod's processes have ended. */
const letGo = (
  cluster: Cluster,
  { namespace, name, uid }: Pick<ObservedPod, 'namespace' | 'name' | 'uid'>,
): Promise<unknown> =>
  unless(
    'not_found',
    coreApi(cluster).deleteNamespacedPod({
      namespace,
      name,
      body: { gracePeriodSeconds: 0, preconditions: { uid } },
    }),
  );

function nodeManifest(name: string): object {
  const capacity = {
    cpu: '256',
    memory: '1Ti',
    pods: String(PODS_EACH),
    'ephemeral-storage': '10Ti',
  };
  const now = new Date().toISOString();
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        [LABEL]: '',
      },
    },
    status: {
      allocatable: capacity,
      capacity,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
    },
  };
}
