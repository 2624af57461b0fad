import { findWorkerPlace } from '@paddock/db/workers/workers';
import { findPod } from '@paddock/kube/pods';
import type { Handler } from '@paddock/queue/kind';
import { done, poison } from '@paddock/queue/outcome';
import { examinePod } from './examine-pod.ts';
import { keepDiagnosis } from './keep-diagnosis.ts';
import { type NotingVersions, noteRefusedVersion } from './note-refused-version.ts';
import { noteUnreached } from './note-unreached.ts';

/**
 * Saves what the pod shows in the row of a worker that failed, or whose pod neither starts nor
 * goes: exit codes, reasons, conditions, events, the ends of the logs. If the runner ended well
 * without a job, finds out whether GitHub refused its version or the runner never reached GitHub.
 */
export function createDiagnosePod(parts: NotingVersions): Handler {
  const { db, cluster } = parts;
  return async (task, signal) => {
    const worker = await findWorkerPlace(db, task.subject.id);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    const refused = await noteRefusedVersion(parts, worker.podName, signal);
    if (worker.status === 'completed') {
      const unreached =
        refused === undefined ? await noteUnreached(parts, worker, signal) : undefined;
      return done({
        diagnosed: refused !== undefined || unreached !== undefined,
        refused,
        unreached,
      });
    }
    if (worker.status !== 'failed' && worker.stuckReason === null)
      return done({ diagnosed: false, status: worker.status });
    if (worker.isExamined) return done({ diagnosed: false, before: 'it was stopped' });
    const pod = await findPod(cluster, { namespace: worker.namespace, name: worker.podName });
    if (pod === undefined) return done({ diagnosed: false, pod: 'absent' });
    const diagnosis = await examinePod(cluster, pod, worker.stuckReason, signal);
    const diagnosed = await keepDiagnosis(db, worker, diagnosis);
    return done({ diagnosed, reason: diagnosis.reason });
  };
}
