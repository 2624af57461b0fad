/** The kinds of tasks about a worker. The subject is the worker's name. */
export const WORKER_TASK = {
  provisionWorker: 'provision-worker',
  diagnosePod: 'diagnose-pod',
  removeSecret: 'remove-secret',
  stopWorker: 'stop-worker',
} as const;

/** A task about one worker, as the queue takes it. */
export interface WorkerTask {
  readonly kind: string;
  readonly subject: { readonly type: 'worker'; readonly id: string; readonly name: string };
  readonly deliveryGuid?: string;
}

export const provisionTask = (worker: {
  podName: string;
  deliveryGuid: string | null;
}): WorkerTask => ({
  ...aboutWorker(WORKER_TASK.provisionWorker, worker.podName),
  ...(worker.deliveryGuid !== null && { deliveryGuid: worker.deliveryGuid }),
});

export const diagnoseTask = (podName: string) => aboutWorker(WORKER_TASK.diagnosePod, podName);

export const removeSecretTask = (podName: string) => aboutWorker(WORKER_TASK.removeSecret, podName);

/**
 * Enqueue it in the transaction that sets `stopping_at`. It proves that no job runs before it ends
 * the worker.
 */
export const stopTask = (podName: string) => aboutWorker(WORKER_TASK.stopWorker, podName);

const aboutWorker = (kind: string, podName: string): WorkerTask => ({
  kind,
  subject: { type: 'worker', id: podName, name: podName },
});
