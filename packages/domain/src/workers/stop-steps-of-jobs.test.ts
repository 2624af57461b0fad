import { describe, expect, test } from '@jest/globals';
import { brief, decide, DEREGISTERED, type Given, IDLE } from '../scenes/stop-evidence.scene.ts';

describe('a worker that has had its job, or is no more believed to have one (E5, P2)', () => {
  const had = { worker: { reason: 'over', hadJob: true, wasOnline: false } } as const;
  const deregistered = { worker: { ...had.worker, ...DEREGISTERED } } as const;
  test.each<[string, Given, string]>([
    [
      'its job runs after all',
      { pod: 'over', worker: { ...had.worker, isAssigned: true } },
      'keep, assigned',
    ],
    ['GitHub must answer', { ...had, pod: 'working' }, 'look at the runner'],
    ['GitHub calls it busy', { ...had, pod: 'over', runner: 'busy' }, 'keep, assigned'],
    [
      'GitHub calls it idle for the first time',
      { ...IDLE, worker: { ...had.worker, idleForMs: 0 } },
      'wait 60000',
    ],
    [
      'its runner has ended beside others: no log, and no run',
      { ...had, pod: 'over', runner: 'unknown' },
      'deregister',
    ],
    [
      'its runner has ended beside others, after all',
      { ...deregistered, pod: 'over' },
      'delete_pod',
    ],
    ['its runner goes on: the log is read', { ...had, ...IDLE, job: 'none' }, 'look at the log'],
    [
      'its status is late: the log is read, though no reading called it online',
      { ...had, pod: 'unstarted', runner: 'offline', job: 'none' },
      'look at the log',
    ],
    [
      'its log shows the end of its job',
      { ...had, ...IDLE, job: 'none', log: 'job_over' },
      'deregister',
    ],
    [
      'its log shows that it waits',
      { ...had, ...IDLE, job: 'none', log: 'listening' },
      'deregister',
    ],
    ['its log shows a job', { ...had, ...IDLE, job: 'none', log: 'job_begun' }, 'keep, assigned'],
    [
      'its log shows a job, and GitHub does not know it',
      { ...had, pod: 'working', runner: 'unknown', job: 'none', log: 'job_begun' },
      'wait 45000, held up',
    ],
    [
      'its log says nothing',
      { ...had, pod: 'working', runner: 'offline', job: 'none', log: 'silent' },
      'wait 45000, held up',
    ],
    [
      'its log says nothing, and its status is late',
      { ...had, pod: 'unstarted', runner: 'offline', job: 'none', log: 'silent' },
      'wait 45000, held up',
    ],
    [
      'its node says that it never began',
      { ...had, pod: 'unstarted', runner: 'offline', job: 'none', log: 'none' },
      'wait 45000, held up',
    ],
    [
      'its log says nothing, at the last look',
      { ...deregistered, pod: 'working', job: 'none', log: 'silent' },
      'wait 45000, held up',
    ],
    [
      'its log shows a job, at the last look',
      { ...deregistered, pod: 'working', job: 'none', log: 'job_begun' },
      'keep, assigned',
    ],
    [
      'all is proven',
      { ...deregistered, pod: 'working', job: 'none', log: 'job_over' },
      'delete_pod',
    ],
  ])('%s', (_what, given, expected) => {
    expect(brief(decide(given))).toBe(expected);
  });
});
