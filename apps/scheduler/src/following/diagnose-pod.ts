import type { Database } from '@paddock/db/schema/tables';
import { findWorkerPlace, saveDiagnosis } from '@paddock/db/workers/workers';
import type { Cluster } from '@paddock/kube/connect';
import { podEvents } from '@paddock/kube/events';
import { readLogTail } from '@paddock/kube/logs';
import { findPod } from '@paddock/kube/pods';
import type { Handler } from '@paddock/queue/kind';
import { done, poison } from '@paddock/queue/outcome';
import type { Kysely } from 'kysely';
import { type ContainerLog, diagnose } from './diagnosis.ts';

const TAIL_LINES = 200;
const TAIL_BYTES = 32 * 1024;

/**
 * Adds to the row of a worker that failed, or whose pod does not start or go, what the pod tells: exit codes, reasons, conditions, events, the
 * ends of the logs. A failed pod stays for hours (E7).
 */
export function createDiagnosePod({ db, cluster }: { db: Kysely<Database>; cluster: Cluster }): Handler {
  return async (task, signal) => {
    const worker = await findWorkerPlace(db, task.subject.id);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    if (worker.status !== 'failed' && worker.stuckReason === null) return done({ diagnosed: false, status: worker.status });
    const place = { namespace: worker.namespace, name: worker.podName };
    const pod = await findPod(cluster, place);
    if (pod === undefined) return done({ diagnosed: false, pod: 'absent' });
    const logs = new Map<string, ContainerLog>();
    for (const { name, state } of pod.containers) {
      if (state !== 'running' && state !== 'terminated') continue;
      const read = await readLogTail(cluster, { ...place, container: name, tailLines: TAIL_LINES, maxBytes: TAIL_BYTES, signal });
      logs.set(name, read.text === null ? { text: null, missing: read.failure.message } : read);
    }
    const diagnosis = diagnose(pod, logs, await podEvents(cluster, { ...place, uid: pod.uid }), worker.stuckReason);
    const diagnosed = await saveDiagnosis(db, worker.podName, diagnosis);
    return done({ diagnosed, reason: diagnosis.reason });
  };
}
