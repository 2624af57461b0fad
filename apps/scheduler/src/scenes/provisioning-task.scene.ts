import type { Task } from '@paddock/queue/task';

/** A run of the task that makes this worker, with so much of its lease left. */
export const taskFor = (podName: string, claimLeft: number): Task => ({
  id: 'a task',
  kind: 'provision-worker',
  subject: { type: 'worker', id: podName, name: null },
  payload: {},
  attempt: 1,
  maxAttempts: 5,
  crashes: 0,
  deliveryGuid: null,
  fence: 1,
  claimLeft: () => claimLeft,
});
