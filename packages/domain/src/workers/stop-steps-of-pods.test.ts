import { describe, expect, test } from '@jest/globals';
import { brief, decide, DEREGISTERED, type Given, IDLE } from '../scenes/stop-evidence.scene.ts';

const NEVER_STARTED = { pod: 'unstarted', worker: { wasOnline: false } } as const;
const WORKS = { runner: 'online', job: 'none', log: 'job_begun' } as const;

describe('the state of its pod', () => {
  test.each<[string, Given, string]>([
    [
      'it never started, nor was its runner ever online: no log',
      { ...NEVER_STARTED, runner: 'offline', job: 'none' },
      'deregister',
    ],
    [
      'it is said not to have started, but its runner was online once',
      { pod: 'unstarted', runner: 'offline', job: 'none' },
      'look at the log',
    ],
    [
      'it is said not to have started, was online once, and its log cannot be read',
      { pod: 'unstarted', runner: 'online', job: 'none', log: 'unreadable' },
      'wait 45000, held up',
    ],
    [
      'it is said not to have started, and its log shows a job',
      { pod: 'unstarted', ...WORKS },
      'keep, assigned',
    ],
    [
      'it is said not to have started, is deregistered, and its log shows a job',
      { pod: 'unstarted', ...WORKS, worker: DEREGISTERED },
      'keep, assigned',
    ],
    [
      'it never started, and GitHub does not know its runner',
      { ...NEVER_STARTED, runner: 'unknown', job: 'none' },
      'look at the log',
    ],
    [
      'the same, and its node says so',
      { ...NEVER_STARTED, runner: 'unknown', job: 'none', log: 'none' },
      'deregister',
    ],
    [
      'the same, on no node yet',
      { ...NEVER_STARTED, runner: 'unknown', job: 'none', log: 'silent' },
      'deregister',
    ],
    [
      'the same, and its log shows a job',
      { ...NEVER_STARTED, ...WORKS, runner: 'unknown' },
      'keep, assigned',
    ],
    [
      'it was online once, and its node says that it has not started',
      { pod: 'unstarted', runner: 'online', job: 'none', log: 'none' },
      'wait 45000, held up',
    ],
    [
      'it runs, and its node says that it has not started',
      { ...IDLE, job: 'none', log: 'none' },
      'wait 45000, held up',
    ],
    ['it never started, but is busy', { pod: 'unstarted', runner: 'busy' }, 'keep, assigned'],
    [
      'it never started and is deregistered: it may have taken a job right before',
      { pod: 'unstarted', job: 'none', worker: { ...DEREGISTERED, wasOnline: false } },
      'look at the log',
    ],
    ...(['none', 'silent'] as const).map((log): [string, Given, string] => [
      `it never started and is deregistered, and its log is ${log}`,
      { pod: 'unstarted', job: 'none', log, worker: { ...DEREGISTERED, wasOnline: false } },
      'delete_pod',
    ]),
    [
      'it is said not to have started, was never online, is deregistered, and its log shows a job',
      {
        pod: 'unstarted',
        job: 'none',
        log: 'job_begun',
        worker: { ...DEREGISTERED, wasOnline: false },
      },
      'keep, assigned',
    ],
    [
      'its runner has ended, others go on: no log',
      { pod: 'over', runner: 'unknown', job: 'none' },
      'deregister',
    ],
    ['it is being deleted', { pod: 'terminating' }, 'wait 45000, held up'],
    ['it has ended', { pod: 'ended' }, 'wait 45000'],
    [
      'it has started after all',
      { pod: 'working', worker: { reason: 'pending_timeout' } },
      'keep, unassigned',
    ],
    [
      'its image came after all',
      { pod: 'working', worker: { reason: 'image_pull' } },
      'keep, unassigned',
    ],
    [
      'it has not started',
      {
        pod: 'unstarted',
        runner: 'offline',
        job: 'none',
        worker: { reason: 'pending_timeout', wasOnline: false },
      },
      'deregister',
    ],
    [
      'it has started after all, without a registration',
      {
        pod: 'working',
        job: 'none',
        log: 'silent',
        worker: { ...DEREGISTERED, reason: 'pending_timeout', wasOnline: false },
      },
      'delete_pod',
    ],
    [
      'it was missing from a list only',
      { pod: 'working', worker: { reason: 'pod_gone' } },
      'keep, unassigned',
    ],
  ])('%s', (_what, given, expected) => {
    expect(brief(decide(given))).toBe(expected);
  });
});

describe('without a pod only GitHub’s word ends a row (A3)', () => {
  const gone = { pod: 'absent', worker: { reason: 'pod_gone' } } as const;
  const never = { pod: 'absent', worker: { hadPod: false, wasOnline: false } } as const;
  test.each<[string, Given, string]>([
    ['GitHub must answer', gone, 'look at the runner'],
    ['unknown', { ...gone, runner: 'unknown' }, 'end'],
    [
      'unknown, and a job ran on it',
      { pod: 'absent', runner: 'unknown', worker: { isAssigned: true } },
      'end',
    ],
    [
      'online: it may work on a node that is cut off',
      { ...gone, runner: 'online' },
      'wait 45000, held up',
    ],
    ['busy', { ...gone, runner: 'busy' }, 'wait 45000, held up'],
    [
      'offline for the first time',
      { pod: 'absent', runner: 'offline', worker: { offlineForMs: 0 } },
      'wait 600000',
    ],
    [
      'offline for long',
      { pod: 'absent', runner: 'offline', worker: { offlineForMs: 600_000 } },
      'end',
    ],
    [
      'offline for long in the midst of its job',
      { pod: 'absent', runner: 'busy', worker: { offlineForMs: 600_000 } },
      'end',
    ],
    ['deregistered by us', { pod: 'absent', worker: DEREGISTERED }, 'end'],
    [
      'our attempt to deregister it died',
      { pod: 'absent', worker: { deregistration: 'begun' } },
      'look at the runner',
    ],
    [
      'never seen one, but a job runs on it: idle is no proof',
      { pod: 'absent', runner: 'online', worker: { hadPod: false, isAssigned: true } },
      'wait 45000, held up',
    ],
    [
      'never had one, never registered',
      { worker: { hadPod: false, registrationBegun: false } },
      'end',
    ],
    ['never had one: GitHub must answer', never, 'look at the runner'],
    ['never had one, unknown', { ...never, runner: 'unknown' }, 'end'],
    ['never had one, busy', { ...never, runner: 'busy' }, 'keep, assigned'],
    [
      'never had one, idle once',
      { pod: 'absent', runner: 'offline', worker: { hadPod: false, idleForMs: 0 } },
      'wait 60000',
    ],
    [
      'never had one, idle twice: the registration goes first',
      { ...never, runner: 'offline' },
      'deregister',
    ],
  ])('%s', (_what, given, expected) => {
    expect(brief(decide(given))).toBe(expected);
  });
});
