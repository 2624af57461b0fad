import type { Database } from '@paddock/db/tables';
import { findWorkerPlace, saveDiagnosis } from '@paddock/db/workers';
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

/** Adds to a failed worker's row what its pod still tells: exit codes, reasons, events, the ends of the logs. The pod stays for hours (E7). */
export function createDiagnosePod({ db, cluster }: { db: Kysely<Database>; cluster: Cluster }): Handler {
  return async (task, signal) => {
    const worker = await findWorkerPlace(db, task.subject.id);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    if (worker.status !== 'failed') return done({ diagnosed: false, status: worker.status });
    const place = { namespace: worker.namespace, name: worker.podName };
    const pod = await findPod(cluster, place);
    if (pod === undefined) return done({ diagnosed: false, pod: 'absent' });
    const logs = new Map<string, ContainerLog>();
    for (const { name } of pod.containers) {
      const read = await readLogTail(cluster, { ...place, container: name, tailLines: TAIL_LINES, maxBytes: TAIL_BYTES, signal });
      logs.set(name, read.text === null ? { text: null, missing: read.failure.message } : read);
    }
    const diagnosis = diagnose(pod, logs, await podEvents(cluster, { ...place, uid: pod.uid }));
    await saveDiagnosis(db, worker.podName, diagnosis);
    return done({ diagnosed: true, reason: diagnosis.reason });
  };
}
