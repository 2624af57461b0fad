import type { Cluster } from '@paddock/kube/connect';
import { KubeError } from '@paddock/kube/errors';
import { podEvents } from '@paddock/kube/events';
import { readLogTail } from '@paddock/kube/logs';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { type ContainerLog, diagnose, type Diagnosis, type EventRead } from './diagnosis.ts';

export const TAIL_LINES = 200;
const TAIL_BYTES = 32 * 1024;

/**
 * Reads all that tells why a pod failed, is stuck, or has a runner that GitHub does not see, and
 * puts it together. `rowReason` is what the worker's row says. Logs and events that cannot be read
 * are said to be missing: no end waits for them.
 */
export async function examinePod(cluster: Cluster, pod: ObservedPod, rowReason: string | null, signal: AbortSignal): Promise<Diagnosis> {
  const logs = new Map<string, ContainerLog>();
  for (const { name, state } of pod.containers) {
    if (state !== 'running' && state !== 'terminated') continue;
    const { namespace, name: podName } = pod;
    const tail = { namespace, name: podName, container: name, tailLines: TAIL_LINES, maxBytes: TAIL_BYTES, signal };
    const read = await readLogTail(cluster, tail);
    logs.set(name, read.text === null ? { text: null, missing: read.failure.message } : read);
  }
  return diagnose(pod, logs, await eventsOf(cluster, pod), rowReason);
}

async function eventsOf(cluster: Cluster, pod: ObservedPod): Promise<EventRead> {
  try {
    return await podEvents(cluster, pod);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { missing: error.message };
  }
}
