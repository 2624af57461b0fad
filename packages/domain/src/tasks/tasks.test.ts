import { expect, test } from '@jest/globals';
import { diagnoseTask, provisionTask, removeSecretTask, stopTask } from './worker-tasks.ts';
import { lookUpJobsTask, redeliverySchedule, DELETING_SWEEPS } from './sweep-names.ts';
import { type PassesSinceSuccess, isOverdue, whyOverdue } from './why-overdue.ts';

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
  [
    stopTask({ podName: 'pod-1', deliveryGuid: 'g' }),
    { kind: 'stop-worker', subject: worker, deliveryGuid: 'g' },
  ],
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

const NOTHING: PassesSinceSuccess = {
  secondsSinceTick: 30,
  pausedBy: null,
  runningSeconds: null,
  dueSeconds: null,
  retryMessage: null,
  failureMessage: null,
  missed: 0,
};

test.each<[Partial<PassesSinceSuccess>, string]>([
  [{ pausedBy: 'mona', retryMessage: '502' }, 'it was paused by mona'],
  [
    { retryMessage: '502', failureMessage: 'older', runningSeconds: 3 },
    'its last pass failed: 502',
  ],
  [
    { failureMessage: 'canceling statement due to statement timeout' },
    'its last pass failed: canceling statement due to statement timeout',
  ],
  [{ runningSeconds: 240.4 }, 'a pass has been running for 240 s'],
  [{ dueSeconds: 900 }, 'its task is due, and no executor has taken it for 900 s'],
  [{ secondsSinceTick: 1_000 }, 'no replica has taken a tick of it for 1000 s'],
  [{ dueSeconds: 60 }, 'its passes end without a result'],
  [{ dueSeconds: 61 }, 'its task is due, and no executor has taken it for 61 s'],
  [{ secondsSinceTick: 180 }, 'its passes end without a result'],
  [{ secondsSinceTick: 181 }, 'no replica has taken a tick of it for 181 s'],
  [{ missed: 3 }, 'its passes end before they reach 3 entities'],
  [{ dueSeconds: 10 }, 'its passes end without a result'],
])('%j: %s (E9)', (passes, why) => {
  expect(whyOverdue({ ...NOTHING, ...passes }, 60)).toBe(why);
});

test('a sweep is overdue after three cadences and the time that one pass may take (E9)', () => {
  expect(isOverdue(480, 60)).toBe(false);
  expect(isOverdue(481, 60)).toBe(true);
  expect(isOverdue(11_000, 3_600)).toBe(false);
});

test('people may try out the sweeps that delete something at GitHub or in the cluster (F5)', () => {
  expect([...DELETING_SWEEPS]).toEqual([
    'check-workers',
    'delete-ended-pods',
    'remove-registrations',
  ]);
});
