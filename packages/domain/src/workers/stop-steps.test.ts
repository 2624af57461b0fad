import { describe, expect, test } from '@jest/globals';
import { hasOutlived, type StopEvidence } from './stop-steps.ts';
import {
  brief,
  decide,
  DEREGISTERED,
  type Given,
  IDLE,
  WORKER,
} from '../scenes/stop-evidence.scene.ts';

describe('the way to an end, in this order (E5)', () => {
  test.each<[string, Given, string]>([
    ['it has ended', { worker: { hasEnded: true } }, 'leave'],
    ['it is to stay after all', { worker: { isStopping: false } }, 'leave'],
    ['the pod comes first', {}, 'look at the pod'],
    [
      'the pod comes first, even without a registration',
      { worker: { registrationBegun: false } },
      'look at the pod',
    ],
    ['a job is bound', { pod: 'working', worker: { isAssigned: true } }, 'keep, assigned'],
    ['then the runner', { pod: 'working' }, 'look at the runner'],
    ['busy', { pod: 'working', runner: 'busy' }, 'keep, assigned'],
    ['idle for the first time', { ...IDLE, worker: { idleForMs: 0 } }, 'wait 60000'],
    ['idle again, but too soon', { ...IDLE, worker: { idleForMs: 59_000 } }, 'wait 1000'],
    [
      'idle, but since when is not written down',
      { ...IDLE, worker: { idleForMs: null } },
      'wait 60000',
    ],
    ['idle twice', IDLE, 'look at the job'],
    ['offline is idle', { pod: 'working', runner: 'offline' }, 'look at the job'],
    ['a job is in progress on it', { ...IDLE, job: 'found' }, 'bind'],
    ['there are too many to ask for', { ...IDLE, job: 'too_many' }, 'wait 45000, held up'],
    ['none is', { ...IDLE, job: 'none' }, 'look at the log'],
    [
      'the log shows a job that is over: its worker has had it',
      { ...IDLE, job: 'none', log: 'job_over' },
      'keep, assigned',
    ],
    ['the log shows a job', { ...IDLE, job: 'none', log: 'job_begun' }, 'keep, assigned'],
    ['the log cannot be read', { ...IDLE, job: 'none', log: 'unreadable' }, 'wait 45000, held up'],
    [
      'the log cannot be read, and nothing says that it ever began',
      {
        pod: 'unstarted',
        runner: 'unknown',
        job: 'none',
        log: 'unreadable',
        worker: { wasOnline: false },
      },
      'wait 45000, held up',
    ],
    [
      'the log has lost its beginning',
      { ...IDLE, job: 'none', log: 'silent' },
      'wait 45000, held up',
    ],
    ['all is proven', { ...IDLE, job: 'none', log: 'listening' }, 'deregister'],
    [
      'once online, offline now, and its log says nothing',
      { pod: 'working', runner: 'offline', job: 'none', log: 'silent' },
      'wait 45000, held up',
    ],
    [
      'never online, and its log says nothing',
      {
        pod: 'working',
        runner: 'offline',
        job: 'none',
        log: 'silent',
        worker: { wasOnline: false },
      },
      'deregister',
    ],
    [
      'never seen online, unknown now, and its log says nothing: it may have run its job',
      {
        pod: 'working',
        runner: 'unknown',
        job: 'none',
        log: 'silent',
        worker: { wasOnline: false },
      },
      'wait 45000, held up',
    ],
    [
      'GitHub does not know it',
      { pod: 'working', runner: 'unknown', worker: { idleForMs: null } },
      'look at the job',
    ],
    [
      'deregistered: jobs are looked at again',
      { pod: 'working', worker: DEREGISTERED },
      'look at the job',
    ],
    [
      'deregistered: the log is read again',
      { pod: 'working', job: 'none', worker: DEREGISTERED },
      'look at the log',
    ],
    [
      'deregistered, and a job after all',
      { pod: 'working', job: 'none', log: 'job_begun', worker: DEREGISTERED },
      'keep, assigned',
    ],
    [
      'deregistered, and a job bound',
      { pod: 'working', worker: { ...DEREGISTERED, isAssigned: true } },
      'keep, assigned',
    ],
    [
      'deregistered just now',
      {
        pod: 'working',
        job: 'none',
        log: 'listening',
        worker: { ...DEREGISTERED, deregisteredForMs: 10_000 },
      },
      'wait 20000',
    ],
    [
      'deregistered, and still nothing',
      { pod: 'working', job: 'none', log: 'listening', worker: DEREGISTERED },
      'delete_pod',
    ],
    [
      'an attempt died while it deregistered',
      { ...IDLE, job: 'none', log: 'listening', worker: { deregistration: 'begun' } },
      'deregister',
    ],
    [
      'an attempt died while it deregistered: GitHub must answer again',
      { pod: 'working', worker: { deregistration: 'begun' } },
      'look at the runner',
    ],
    [
      'an attempt died while it deregistered: its reason counts no more',
      { pod: 'working', worker: { deregistration: 'begun', reason: 'pod_gone' } },
      'look at the runner',
    ],
  ])('%s', (_what, given, expected) => {
    expect(brief(decide(given))).toBe(expected);
  });
});

const WEEK_MS = 7 * 86_400_000;

test.each<[string, Pick<StopEvidence, 'pod'>, number | null, boolean]>([
  ['its pod has been gone for a week', { pod: 'absent' }, WEEK_MS, true],
  ['its pod has been gone for less', { pod: 'absent' }, WEEK_MS - 1, false],
  ['its pod’s absence is not noticed yet', { pod: 'absent' }, null, false],
  ['its pod is back', { pod: 'working' }, WEEK_MS, false],
  ['its pod is on its way out', { pod: 'terminating' }, WEEK_MS, false],
  ['its pod was not looked for', {}, WEEK_MS, false],
])(
  'GitHub’s word is not needed where no runner can still live: %s (A3)',
  (_what, seen, podlessForMs, expected) => {
    expect(hasOutlived({ ...seen, worker: { ...WORKER, podlessForMs } })).toBe(expected);
  },
);

test('nothing is done to a worker before all proofs, if any one is missing (P2)', () => {
  const full = { ...IDLE, job: 'none', log: 'listening' } as const;
  for (const missing of ['pod', 'runner', 'job', 'log'] as const) {
    const { [missing]: _left, ...rest } = full;
    expect(brief(decide(rest))).toBe(`look at the ${missing}`);
  }
});
