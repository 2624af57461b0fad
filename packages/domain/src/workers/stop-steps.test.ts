import { describe, expect, test } from '@jest/globals';
import {
  DEREGISTERED,
  type Given,
  IDLE,
  WORKER,
  brief,
  decide,
} from '../scenes/stop-evidence.scene.ts';
import { type StopEvidence, hasOutlived, isUnplaced } from './stop-steps.ts';

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
    ['idle twice', IDLE, 'look at the log'],
    ['offline is idle', { pod: 'working', runner: 'offline' }, 'look at the log'],
    ['its log shows a job: which one?', { ...IDLE, log: 'job_begun' }, 'look at the job'],
    ['a run names it', { ...IDLE, log: 'job_begun', job: 'found' }, 'bind'],
    ['some runs do not name it', { ...IDLE, log: 'job_begun', job: 'more' }, 'keep, assigned'],
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
    ['all is proven, and no run is read', { ...IDLE, log: 'listening' }, 'deregister'],
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
      'look at the log',
    ],
    [
      'deregistered: the log is read again',
      { pod: 'working', worker: DEREGISTERED },
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
  ['its pod is on its way out', { pod: 'over' }, WEEK_MS, false],
  ['its pod was not looked for', {}, WEEK_MS, false],
])(
  'GitHub’s word is not needed where no runner can still live: %s (A3)',
  (_what, seen, podlessForMs, expected) => {
    expect(hasOutlived({ ...seen, worker: { ...WORKER, podlessForMs } })).toBe(expected);
  },
);

test('nothing is done to a worker before all proofs, if any one is missing (P2)', () => {
  const full = { ...IDLE, log: 'listening' } as const;
  for (const missing of ['pod', 'runner', 'log'] as const) {
    const { [missing]: _left, ...rest } = full;
    expect(brief(decide(rest))).toBe(`look at the ${missing}`);
  }
});

const LONG = { idleForMs: 600_000, stoppingForMs: 600_000 };
const SAID = 'its log cannot be read, so it is not known whether a job runs';
const unread = (worker: Given['worker'], more: Given = {}): Given => ({
  ...IDLE,
  log: 'unreadable',
  ...more,
  worker: { ...LONG, heldBy: SAID, ...worker },
});

describe('a log that proves nothing leaves the word to GitHub, for long (P2)', () => {
  test.each<[string, Given, string]>([
    ['no attempt before found that', unread({ heldBy: null }), 'wait 45000, held up'],
    ['another thing was in the way', unread({ heldBy: 'GitHub is away' }), 'wait 45000, held up'],
    ['GitHub has called it idle for less', unread({ idleForMs: 599_999 }), 'wait 45000, held up'],
    ['it has been stopping for less', unread({ stoppingForMs: 599_999 }), 'wait 45000, held up'],
    ['it was called idle for long: no run may name it', unread({}), 'look at the job'],
    ['a run names it', unread({}, { job: 'found' }), 'bind'],
    ['there are more runs', unread({}, { job: 'more' }), 'wait 45000, held up'],
    [
      'there were more runs at the attempt before',
      unread({ heldBy: `${SAID}: GitHub is asked for more runs` }),
      'look at the job',
    ],
    ['no run names it', unread({}, { job: 'none' }), 'deregister'],
    [
      'it has lost its beginning',
      unread(
        { heldBy: 'its log has lost its beginning, so it is not known whether a job runs' },
        { log: 'cut', job: 'none' },
      ),
      'deregister',
    ],
    [
      'it has no line of a runner',
      unread(
        { heldBy: 'its log shows no line of a runner, so it is not known whether a job runs' },
        { log: 'silent', job: 'none' },
      ),
      'deregister',
    ],
    [
      'its node says that it has not run',
      unread(
        {
          heldBy:
            'its node says that it has not run, although it has, so it is not known whether a job runs',
        },
        { log: 'none', job: 'none' },
      ),
      'deregister',
    ],
    [
      'GitHub does not know it, for less',
      unread({ idleForMs: null, stoppingForMs: 599_999 }, { runner: 'unknown' }),
      'wait 45000, held up',
    ],
    [
      'GitHub does not know it',
      unread({ idleForMs: null }, { runner: 'unknown' }),
      'look at the job',
    ],
    [
      'GitHub does not know it, and it had a job: a person must decide',
      unread({ idleForMs: null, hadJob: true }, { runner: 'unknown', job: 'none' }),
      'wait 45000, held up',
    ],
    ['it had a job, and is idle since', unread({ hadJob: true }), 'look at the job'],
    ['deregistered: runs are read again', unread(DEREGISTERED), 'look at the job'],
    ['deregistered, and none names it', unread(DEREGISTERED, { job: 'none' }), 'delete_pod'],
    ['deregistered, and one names it', unread(DEREGISTERED, { job: 'found' }), 'bind'],
  ])('%s', (_what, given, expected) => {
    expect(brief(decide(given))).toBe(expected);
  });
});

test.each<[string, Given, boolean]>([
  ['no node has it', { pod: 'unplaced', worker: { wasOnline: false } }, true],
  ['a node has it', { pod: 'unstarted', worker: { wasOnline: false } }, false],
  ['its runner was online', { pod: 'unplaced' }, false],
  ['it had a job', { pod: 'unplaced', worker: { wasOnline: false, hadJob: true } }, false],
  ['a job is bound', { pod: 'unplaced', worker: { wasOnline: false, isAssigned: true } }, false],
  ['it goes', { pod: 'unplaced', isGoing: true, worker: { wasOnline: false } }, false],
])(
  'a pod is deleted without GitHub only where nothing can have run: %s',
  (_what, given, expected) => {
    expect(isUnplaced({ ...given, worker: { ...WORKER, ...given.worker } })).toBe(expected);
  },
);

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
