import type { Kinds } from '@paddock/queue/kind';
import { createDiagnosePod } from './following/diagnose-pod.ts';
import { createProvisionWorker } from './provisioning/provision-worker.ts';
import type { Provisioning } from './provisioning/provisioning.ts';
import { createRemoveSecret } from './following/remove-secret.ts';
import { waitingForCluster } from './service-away.ts';
import { createStopWorker, type Stopping } from './stopping/stop-worker.ts';
import { WORKER_TASK } from '@paddock/domain/tasks/worker-tasks';

/** The scheduler's kinds of task, and how many of each one process runs at once. */
export const schedulerKinds = (parts: Provisioning & Stopping): Kinds => ({
  [WORKER_TASK.provisionWorker]: {
    handler: createProvisionWorker(parts),
    slots: 16,
    needs: ['github', 'cluster'],
  },
  [WORKER_TASK.diagnosePod]: {
    handler: waitingForCluster(parts, createDiagnosePod(parts)),
    slots: 4,
    needs: ['cluster'],
  },
  [WORKER_TASK.removeSecret]: {
    handler: waitingForCluster(parts, createRemoveSecret(parts)),
    slots: 4,
    needs: ['cluster'],
  },
  [WORKER_TASK.stopWorker]: {
    handler: createStopWorker(parts),
    slots: 4,
    needs: ['github', 'cluster'],
  },
});
