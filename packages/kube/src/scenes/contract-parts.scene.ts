import { callJson, objectPath } from '../call.ts';
import type { Cluster } from '../connect.ts';
import { classifyKubeError, type KubeFailure } from '../errors.ts';

/** How a call failed, or undefined if it did not. */
export async function failureOf(call: Promise<unknown>): Promise<KubeFailure | undefined> {
  return call.then(() => undefined, classifyKubeError);
}

/** The parts of a pod's status and of an event that a kubelet and a scheduler would write. */
export function containerStatus(state: object): object {
  return {
    name: 'runner',
    image: 'example.test/runner:1',
    imageID: '',
    ready: false,
    restartCount: 0,
    state,
  };
}

export function eventAbout(name: string, uid: string, message: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.1` },
    involvedObject: { kind: 'Pod', name, namespace: 'runners', uid },
    type: 'Warning',
    reason: 'FailedScheduling',
    message,
    count: 3,
    firstTimestamp: '2026-11-20T10:00:00Z',
    lastTimestamp: '2026-11-20T10:01:00Z',
    source: { component: 'default-scheduler' },
  };
}

/** A pod's status once its containers run. */
export const RUNNING = {
  phase: 'Running',
  startTime: '2026-11-20T10:00:00Z',
  containerStatuses: [containerStatus({ running: { startedAt: '2026-11-20T10:00:02Z' } })],
};

/** As a kubelet sets it. */
export const setPodStatus = (
  cluster: Cluster,
  { namespace, name }: { namespace: string; name: string },
  status: object,
) =>
  callJson(cluster, {
    method: 'PATCH',
    path: objectPath(namespace, 'pods', name, 'status'),
    body: { status },
    contentType: 'application/merge-patch+json',
  });

/** The facts from which a worker's pod is made. */
export const workerOf = (instance: string, name: string) => ({
  name,
  namespace: 'runners',
  instance,
  pool: 'linux',
  image: 'example.test/runner:1',
  entityId: 42,
  scopeRepoId: 0,
});
