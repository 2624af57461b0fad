import { expect, test } from '@jest/globals';
import { lookUpAccessTask } from './key-tasks.ts';
import { lookUpJobsTask } from './look-up-task.ts';
import { redeliverySchedule } from './schedule-names.ts';
import { DELETING_SWEEPS } from './sweep-names.ts';
import { diagnoseTask, provisionTask, removeSecretTask, stopTask } from './worker-tasks.ts';

const worker = { type: 'worker', id: 'pod-1', name: 'pod-1' };

// Rows of the queue hold these words: another version of a service has to understand them.
test.each([
  [
    provisionTask({ podName: 'pod-1', deliveryGuid: null }),
    { kind: 'provision-worker', subject: worker },
  ],
  [
    provisionTask({ podName: 'pod-1', deliveryGuid: 'g' }),
    { kind: 'provision-worker', subject: worker, deliveryGuid: 'g' },
  ],
  [diagnoseTask('pod-1'), { kind: 'diagnose-pod', subject: worker }],
  [removeSecretTask('pod-1'), { kind: 'remove-secret', subject: worker }],
  [stopTask('pod-1'), { kind: 'stop-worker', subject: worker }],
  [lookUpAccessTask(7), { kind: 'look-up-access', subject: { type: 'key', id: '7', name: '7' } }],
  [
    lookUpJobsTask,
    { kind: 'look-up-jobs', subject: { type: 'schedule', id: 'look-up-jobs' }, maxAttempts: 3 },
  ],
])('the queue keeps %j', (task, kept) => {
  expect(task).toEqual(kept);
});

test('ingress and reconciler name the schedule of an App alike', () => {
  expect(redeliverySchedule(12)).toBe('redeliver:12');
});

test('people may try out the sweeps that delete something at GitHub or in the cluster (F5)', () => {
  expect([...DELETING_SWEEPS]).toEqual([
    'check-workers',
    'delete-ended-pods',
    'remove-registrations',
  ]);
});
