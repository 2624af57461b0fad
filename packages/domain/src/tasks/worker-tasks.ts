/** The kinds of tasks about a worker. The subject is the worker's name. */
export const WORKER_TASK = {
  provisionWorker: 'provision-worker',
  diagnosePod: 'diagnose-pod',
  removeSecret: 'remove-secret',
  stopWorker: 'stop-worker',
} as const;

export interface WorkerTask {
  readonly kind: string;
  readonly subject: { readonly type: 'worker'; readonly id: string; readonly name: string };
  readonly deliveryGuid?: string;
}

/** The delivery whose work the worker does: each line in the log about its tasks names it. */
type Guid = string | null;

export interface WorkerOfTask {
  podName: string;
  deliveryGuid: Guid;
}

export const provisionTask = ({ podName, deliveryGuid }: WorkerOfTask) =>
  aboutWorker(WORKER_TASK.provisionWorker, podName, deliveryGuid);

export const diagnoseTask = (podName: string, deliveryGuid: Guid = null) =>
  aboutWorker(WORKER_TASK.diagnosePod, podName, deliveryGuid);

export const removeSecretTask = (podName: string, deliveryGuid: Guid = null) =>
  aboutWorker(WORKER_TASK.removeSecret, podName, deliveryGuid);

/** Enqueue it in the transaction that sets `stopping_at`. */
export const stopTask = ({ podName, deliveryGuid }: WorkerOfTask) =>
  aboutWorker(WORKER_TASK.stopWorker, podName, deliveryGuid);

const aboutWorker = (kind: string, podName: string, deliveryGuid: Guid): WorkerTask => ({
  kind,
  subject: { type: 'worker', id: podName, name: podName },
  ...(deliveryGuid !== null && { deliveryGuid }),
});
