import type { NewTask } from '@paddock/queue/new-task';

/** The kinds of tasks that the scheduler runs. The subject of each is a worker, by its name. */
export const KIND = {
  provisionWorker: 'provision-worker',
  diagnosePod: 'diagnose-pod',
  removeSecret: 'remove-secret',
} as const;

const aboutWorker = (kind: string, podName: string): NewTask => ({ kind, subject: { type: 'worker', id: podName, name: podName } });

export function provisionTask({ podName, deliveryGuid }: { podName: string; deliveryGuid: string | null }): NewTask {
  const task = aboutWorker(KIND.provisionWorker, podName);
  return deliveryGuid === null ? task : { ...task, deliveryGuid };
}

export const diagnoseTask = (podName: string): NewTask => aboutWorker(KIND.diagnosePod, podName);

export const removeSecretTask = (podName: string): NewTask => aboutWorker(KIND.removeSecret, podName);
