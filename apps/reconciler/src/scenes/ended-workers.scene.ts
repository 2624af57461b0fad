import type { Database } from '@paddock/db/schema/tables';
import type { Cluster } from '@paddock/kube/connect';
import { createPod, findPod } from '@paddock/kube/pods';
import type { KubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import type { Kysely } from 'kysely';

export const NAMESPACE = 'default';

interface Place {
  readonly db: Kysely<Database>;
  readonly kube: KubeSimulator;
  readonly cluster: Cluster;
}

export interface Ended {
  status?: 'completed' | 'failed';
  minutes?: number;
  /** Absent: as the pod's. */
  podUid?: string | null;
  pod?: 'ended' | 'running' | 'unstarted' | 'none';
  /** Its Secret is not known to be gone. */
  secretLeft?: boolean;
}

/** A worker that ended `minutes` ago, with the remains of its pod. Returns its name. */
export async function putEndedWorker(
  { db, kube, cluster }: Place,
  { status = 'completed', minutes = 400, pod = 'ended', podUid, secretLeft }: Ended,
): Promise<string> {
  const secret = secretLeft === true ? {} : { secret_deleted_at: minutesAgo(minutes) };
  const { pod_name: name } = await putWorker(db, {
    status,
    completed_at: minutesAgo(minutes),
    ...secret,
  });
  if (pod === 'none') return name;
  const { uid } = await createPod(cluster, {
    metadata: {
      namespace: NAMESPACE,
      name,
      annotations: pod === 'unstarted' ? { 'test.paddock/start': 'never' } : {},
    },
    spec: { containers: [{ name: 'runner', image: 'runner:1' }] },
  });
  const at = { namespace: NAMESPACE, name };
  await waitFor('the pod to come so far', async () => {
    const there = await findPod(cluster, at);
    return pod === 'unstarted' ? there?.nodeName !== undefined : there?.phase === 'Running';
  });
  if (pod === 'ended') {
    kube.endPod({ namespace: NAMESPACE, name, end: status === 'failed' ? 'failed' : 'succeeded' });
    await waitFor('the pod to end', async () => (await findPod(cluster, at))?.containersTerminated);
  }
  await db
    .updateTable('workers')
    .set({ pod_uid: podUid === undefined ? uid : podUid })
    .where('pod_name', '=', name)
    .execute();
  return name;
}
