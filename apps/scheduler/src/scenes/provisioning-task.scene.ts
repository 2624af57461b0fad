import type { Task } from '@paddock/queue/kind';

/**
 * A run of the task that makes this worker. `claimLeft` gives the rest of its claim, from 0 to 1.
 */
export const taskFor = (podName: string, claimLeft: () => number): Task => ({
  id: 'a task',
  kind: 'provision-worker',
  subject: { type: 'worker', id: podName, name: null },
  payload: {},
  attempt: 1,
  maxAttempts: 5,
  crashes: 0,
  deliveryGuid: null,
  fence: 1,
  claimLeft,
});
