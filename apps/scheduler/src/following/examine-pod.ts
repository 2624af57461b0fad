import type { Cluster } from '@paddock/kube/connect';
import { KubeError } from '@paddock/kube/errors';
import { podEvents } from '@paddock/kube/events';
import { readLogTail } from '@paddock/kube/logs';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { type ContainerLog, diagnose, type Diagnosis, type EventRead } from './diagnosis.ts';

export const TAIL_LINES = 200;
const TAIL_BYTES = 32 * 1024;

/**
 * Reads the logs and events of a pod and describes why it failed, is stuck, or has a runner that
 * GitHub does not see. `rowReason` is the reason in the worker's row. Names logs and events that
 * cannot be read as missing, so that a worker's end never waits for them.
 */
export async function examinePod(
  cluster: Cluster,
  pod: ObservedPod,
  rowReason: string | null,
  signal: AbortSignal,
): Promise<Diagnosis> {
  const logs = new Map<string, ContainerLog>();
  for (const { name, state } of pod.containers) {
    if (state !== 'running' && state !== 'terminated') continue;
    const { namespace, name: podName } = pod;
    const tail = {
      namespace,
      name: podName,
      container: name,
      tailLines: TAIL_LINES,
      maxBytes: TAIL_BYTES,
      signal,
    };
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
