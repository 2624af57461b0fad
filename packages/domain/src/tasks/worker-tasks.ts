/** The kinds of tasks about workers, whoever runs and whoever enqueues them. The subject of each is a worker, by its name. */
export const WORKER_TASK = {
  provisionWorker: 'provision-worker',
  diagnosePod: 'diagnose-pod',
  removeSecret: 'remove-secret',
  stopWorker: 'stop-worker',
} as const;

/** A task about one worker, in the form in which the queue takes it. */
export interface WorkerTask {
  readonly kind: string;
  readonly subject: { readonly type: 'worker'; readonly id: string; readonly name: string };
  readonly deliveryGuid?: string;
}

export function provisionTask({ podName, deliveryGuid }: { podName: string; deliveryGuid: string | null }): WorkerTask {
  const task = aboutWorker(WORKER_TASK.provisionWorker, podName);
  return deliveryGuid === null ? task : { ...task, deliveryGuid };
}

export const diagnoseTask = (podName: string): WorkerTask => aboutWorker(WORKER_TASK.diagnosePod, podName);

export const removeSecretTask = (podName: string): WorkerTask => aboutWorker(WORKER_TASK.removeSecret, podName);

/** Belongs into the transaction that sets `stopping_at`. Its handler ends the worker only with every proof that nothing runs on it (E5). */
export const stopTask = (podName: string): WorkerTask => aboutWorker(WORKER_TASK.stopWorker, podName);

const aboutWorker = (kind: string, podName: string): WorkerTask => ({ kind, subject: { type: 'worker', id: podName, name: podName } });
