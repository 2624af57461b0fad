import { describe, expect, test } from '@jest/globals';
import { hasOutlived, nextStopStep, type StopEvidence, type StoppingWorker, type StopStep } from './stop-steps.ts';

const RULES = { idleApartMs: 60_000, lastLookMs: 30_000, offlineMs: 600_000, retryMs: 45_000 };

/** A registered worker that was idle and is to be stopped; GitHub has called it idle for long. */
const WORKER: StoppingWorker = {
  hasEnded: false,
  isStopping: true,
  reason: 'idle',
  isAssigned: false,
  hadJob: false,
  hadPod: true,
  podlessForMs: null,
  registrationBegun: true,
  deregistration: 'none',
  deregisteredForMs: null,
  wasOnline: true,
  idleForMs: 60_000,
  offlineForMs: null,
};
const DEREGISTERED = { deregistration: 'done', deregisteredForMs: 30_000 } as const;

type Given = Omit<StopEvidence, 'worker'> & { readonly worker?: Partial<StoppingWorker> };
const decide = ({ worker, ...seen }: Given): StopStep => nextStopStep({ ...seen, worker: { ...WORKER, ...worker } }, RULES);

/** What the step is, without its sentence. */
const brief = (step: StopStep) => {
  if ('look' in step) return `look at the ${step.look}`;
  if (step.act === 'wait') return `wait ${step.forMs}${step.heldUp ? ', held up' : ''}`;
  return step.act === 'keep' ? `keep, ${step.assigned ? 'assigned' : 'unassigned'}` : step.act;
};

const IDLE = { pod: 'working', runner: 'online' } as const;

describe('the way to an end, in this order (E5)', () => {
  test.each<[string, Given, string]>([
    ['it has ended', { worker: { hasEnded: true } }, 'leave'],
    ['nobody wants it stopped any more', { worker: { isStopping: false } }, 'leave'],
    ['the pod comes first', {}, 'look at the pod'],
    ['the pod comes first, even without a registration', { worker: { registrationBegun: false } }, 'look at the pod'],
    ['a job is bound', { pod: 'working', worker: { isAssigned: true } }, 'keep, assigned'],
    ['then the runner', { pod: 'working' }, 'look at the runner'],
    ['busy', { pod: 'working', runner: 'busy' }, 'keep, assigned'],
    ['idle for the first time', { ...IDLE, worker: { idleForMs: 0 } }, 'wait 60000'],
    ['idle again, but too soon', { ...IDLE, worker: { idleForMs: 59_000 } }, 'wait 1000'],
    ['idle, but since when is not written down', { ...IDLE, worker: { idleForMs: null } }, 'wait 60000'],
    ['idle twice', IDLE, 'look at the job'],
    ['offline is idle', { pod: 'working', runner: 'offline' }, 'look at the job'],
    ['a job is in progress on it', { ...IDLE, job: 'found' }, 'bind'],
    ['there are too many to ask for', { ...IDLE, job: 'too_many' }, 'wait 45000, held up'],
    ['none is', { ...IDLE, job: 'none' }, 'look at the log'],
    ['the log shows a job that is over: its worker has had it', { ...IDLE, job: 'none', log: 'job_over' }, 'keep, assigned'],
    ['the log shows a job', { ...IDLE, job: 'none', log: 'job_begun' }, 'keep, assigned'],
    ['the log cannot be read', { ...IDLE, job: 'none', log: 'unreadable' }, 'wait 45000, held up'],
    [
      'the log cannot be read, and nothing says that it ever began',
      { pod: 'unstarted', runner: 'unknown', job: 'none', log: 'unreadable', worker: { wasOnline: false } },
      'wait 45000, held up',
    ],
    ['the log has lost its beginning', { ...IDLE, job: 'none', log: 'silent' }, 'wait 45000, held up'],
    ['all is proven', { ...IDLE, job: 'none', log: 'listening' }, 'deregister'],
    [
      'once online, offline now, and its log says nothing',
      { pod: 'working', runner: 'offline', job: 'none', log: 'silent' },
      'wait 45000, held up',
    ],
    [
      'never online, and its log says nothing',
      { pod: 'working', runner: 'offline', job: 'none', log: 'silent', worker: { wasOnline: false } },
      'deregister',
    ],
    [
      'never seen online, unknown now, and its log says nothing: it may have run its job',
      { pod: 'working', runner: 'unknown', job: 'none', log: 'silent', worker: { wasOnline: false } },
      'wait 45000, held up',
    ],
    ['GitHub does not know it', { pod: 'working', runner: 'unknown', worker: { idleForMs: null } }, 'look at the job'],
    ['deregistered: jobs are looked at again', { pod: 'working', worker: DEREGISTERED }, 'look at the job'],
    ['deregistered: the log is read again', { pod: 'working', job: 'none', worker: DEREGISTERED }, 'look at the log'],
    ['deregistered, and a job after all', { pod: 'working', job: 'none', log: 'job_begun', worker: DEREGISTERED }, 'keep, assigned'],
    ['deregistered, and a job bound', { pod: 'working', worker: { ...DEREGISTERED, isAssigned: true } }, 'keep, assigned'],
    [
      'deregistered just now',
      { pod: 'working', job: 'none', log: 'listening', worker: { ...DEREGISTERED, deregisteredForMs: 10_000 } },
      'wait 20000',
    ],
    ['deregistered, and still nothing', { pod: 'working', job: 'none', log: 'listening', worker: DEREGISTERED }, 'delete_pod'],
    [
      'an attempt died while it deregistered',
      { ...IDLE, job: 'none', log: 'listening', worker: { deregistration: 'begun' } },
      'deregister',
    ],
    [
      'an attempt died while it deregistered: GitHub is asked again',
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

const NEVER_STARTED = { pod: 'unstarted', worker: { wasOnline: false } } as const;
const WORKS = { runner: 'online', job: 'none', log: 'job_begun' } as const;

describe('what its pod is', () => {
  test.each<[string, Given, string]>([
    ['it never started, nor was its runner ever online: no log', { ...NEVER_STARTED, runner: 'offline', job: 'none' }, 'deregister'],
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
    ['it is said not to have started, and its log shows a job', { pod: 'unstarted', ...WORKS }, 'keep, assigned'],
    [
      'it is said not to have started, is deregistered, and its log shows a job',
      { pod: 'unstarted', ...WORKS, worker: DEREGISTERED },
      'keep, assigned',
    ],
    ['it never started, and GitHub does not know its runner', { ...NEVER_STARTED, runner: 'unknown', job: 'none' }, 'look at the log'],
    ['the same, and its node says so', { ...NEVER_STARTED, runner: 'unknown', job: 'none', log: 'none' }, 'deregister'],
    ['the same, on no node yet', { ...NEVER_STARTED, runner: 'unknown', job: 'none', log: 'silent' }, 'deregister'],
    ['the same, and its log shows a job', { ...NEVER_STARTED, ...WORKS, runner: 'unknown' }, 'keep, assigned'],
    [
      'it was online once, and its node says that it has not started',
      { pod: 'unstarted', runner: 'online', job: 'none', log: 'none' },
      'wait 45000, held up',
    ],
    ['it runs, and its node says that it has not started', { ...IDLE, job: 'none', log: 'none' }, 'wait 45000, held up'],
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
      { pod: 'unstarted', job: 'none', log: 'job_begun', worker: { ...DEREGISTERED, wasOnline: false } },
      'keep, assigned',
    ],
    ['its runner has ended, others go on: no log', { pod: 'over', runner: 'unknown', job: 'none' }, 'deregister'],
    ['it is being deleted', { pod: 'terminating' }, 'wait 45000, held up'],
    ['it has ended', { pod: 'ended' }, 'wait 45000'],
    ['it has started after all', { pod: 'working', worker: { reason: 'pending_timeout' } }, 'keep, unassigned'],
    ['its image came after all', { pod: 'working', worker: { reason: 'image_pull' } }, 'keep, unassigned'],
    [
      'it has not started',
      { pod: 'unstarted', runner: 'offline', job: 'none', worker: { reason: 'pending_timeout', wasOnline: false } },
      'deregister',
    ],
    [
      'it has started after all, without a registration',
      { pod: 'working', job: 'none', log: 'silent', worker: { ...DEREGISTERED, reason: 'pending_timeout', wasOnline: false } },
      'delete_pod',
    ],
    ['it was missing from a list only', { pod: 'working', worker: { reason: 'pod_gone' } }, 'keep, unassigned'],
  ])('%s', (_what, given, expected) => {
    expect(brief(decide(given))).toBe(expected);
  });
});

describe('a worker that has had its job, or is no more believed to have one (E5, P2)', () => {
  const had = { worker: { reason: 'over', hadJob: true, wasOnline: false } } as const;
  const deregistered = { worker: { ...had.worker, ...DEREGISTERED } } as const;
  test.each<[string, Given, string]>([
    ['its job runs after all', { pod: 'over', worker: { ...had.worker, isAssigned: true } }, 'keep, assigned'],
    ['GitHub is asked', { ...had, pod: 'working' }, 'look at the runner'],
    ['GitHub calls it busy', { ...had, pod: 'over', runner: 'busy' }, 'keep, assigned'],
    ['GitHub calls it idle for the first time', { ...IDLE, worker: { ...had.worker, idleForMs: 0 } }, 'wait 60000'],
    ['GitHub does not know it', { ...had, pod: 'over', runner: 'unknown' }, 'look at the job'],
    ['another job is in progress on it', { ...had, pod: 'over', runner: 'unknown', job: 'found' }, 'bind'],
    ['its runner has ended beside others: no log', { ...had, pod: 'over', runner: 'unknown', job: 'none' }, 'deregister'],
    ['its runner has ended beside others, after all', { ...deregistered, pod: 'over', job: 'none' }, 'delete_pod'],
    ['its runner goes on: the log is read', { ...had, ...IDLE, job: 'none' }, 'look at the log'],
    [
      'its status is late: the log is read, though no reading called it online',
      { ...had, pod: 'unstarted', runner: 'offline', job: 'none' },
      'look at the log',
    ],
    ['its log shows the end of its job', { ...had, ...IDLE, job: 'none', log: 'job_over' }, 'deregister'],
    ['its log shows that it waits', { ...had, ...IDLE, job: 'none', log: 'listening' }, 'deregister'],
    ['its log shows a job', { ...had, ...IDLE, job: 'none', log: 'job_begun' }, 'keep, assigned'],
    [
      'its log shows a job, and GitHub does not know it',
      { ...had, pod: 'working', runner: 'unknown', job: 'none', log: 'job_begun' },
      'wait 45000, held up',
    ],
    ['its log says nothing', { ...had, pod: 'working', runner: 'offline', job: 'none', log: 'silent' }, 'wait 45000, held up'],
    [
      'its log says nothing, and its status is late',
      { ...had, pod: 'unstarted', runner: 'offline', job: 'none', log: 'silent' },
      'wait 45000, held up',
    ],
    ['its node says that it never began', { ...had, pod: 'unstarted', runner: 'offline', job: 'none', log: 'none' }, 'wait 45000, held up'],
    ['its log says nothing, at the last look', { ...deregistered, pod: 'working', job: 'none', log: 'silent' }, 'wait 45000, held up'],
    ['its log shows a job, at the last look', { ...deregistered, pod: 'working', job: 'none', log: 'job_begun' }, 'keep, assigned'],
    ['all is proven', { ...deregistered, pod: 'working', job: 'none', log: 'job_over' }, 'delete_pod'],
  ])('%s', (_what, given, expected) => {
    expect(brief(decide(given))).toBe(expected);
  });
});

describe('without a pod only GitHub’s word ends a row (A3)', () => {
  const gone = { pod: 'absent', worker: { reason: 'pod_gone' } } as const;
  const never = { pod: 'absent', worker: { hadPod: false, wasOnline: false } } as const;
  test.each<[string, Given, string]>([
    ['GitHub is asked', gone, 'look at the runner'],
    ['unknown', { ...gone, runner: 'unknown' }, 'end'],
    ['unknown, and a job ran on it', { pod: 'absent', runner: 'unknown', worker: { isAssigned: true } }, 'end'],
    ['online: it may work on a node that is cut off', { ...gone, runner: 'online' }, 'wait 45000, held up'],
    ['busy', { ...gone, runner: 'busy' }, 'wait 45000, held up'],
    ['offline for the first time', { pod: 'absent', runner: 'offline', worker: { offlineForMs: 0 } }, 'wait 600000'],
    ['offline for long', { pod: 'absent', runner: 'offline', worker: { offlineForMs: 600_000 } }, 'end'],
    ['offline for long in the midst of its job', { pod: 'absent', runner: 'busy', worker: { offlineForMs: 600_000 } }, 'end'],
    ['deregistered by us', { pod: 'absent', worker: DEREGISTERED }, 'end'],
    ['an attempt of ours to deregister it died', { pod: 'absent', worker: { deregistration: 'begun' } }, 'look at the runner'],
    [
      'never seen one, but a job runs on it: idle is no proof',
      { pod: 'absent', runner: 'online', worker: { hadPod: false, isAssigned: true } },
      'wait 45000, held up',
    ],
    ['never had one, never registered', { worker: { hadPod: false, registrationBegun: false } }, 'end'],
    ['never had one: GitHub is asked', never, 'look at the runner'],
    ['never had one, unknown', { ...never, runner: 'unknown' }, 'end'],
    ['never had one, busy', { ...never, runner: 'busy' }, 'keep, assigned'],
    ['never had one, idle once', { pod: 'absent', runner: 'offline', worker: { hadPod: false, idleForMs: 0 } }, 'wait 60000'],
    ['never had one, idle twice: the registration goes first', { ...never, runner: 'offline' }, 'deregister'],
  ])('%s', (_what, given, expected) => {
    expect(brief(decide(given))).toBe(expected);
  });
});

const WEEK_MS = 7 * 86_400_000;

test.each<[string, Pick<StopEvidence, 'pod'>, number | null, boolean]>([
  ['its pod has been gone for a week', { pod: 'absent' }, WEEK_MS, true],
  ['its pod has been gone for less', { pod: 'absent' }, WEEK_MS - 1, false],
  ['nobody has noticed yet that its pod is gone', { pod: 'absent' }, null, false],
  ['its pod is back', { pod: 'working' }, WEEK_MS, false],
  ['its pod is on its way out', { pod: 'terminating' }, WEEK_MS, false],
  ['nobody has looked for its pod', {}, WEEK_MS, false],
])('no word of GitHub’s is needed where no runner can live any more: %s (A3)', (_what, seen, podlessForMs, expected) => {
  expect(hasOutlived({ ...seen, worker: { ...WORKER, podlessForMs } })).toBe(expected);
});

test('nothing is done to a worker before all proofs, whatever is missing (P2)', () => {
  const full = { ...IDLE, job: 'none', log: 'listening' } as const;
  for (const missing of ['pod', 'runner', 'job', 'log'] as const) {
    const { [missing]: _left, ...rest } = full;
    expect(brief(decide(rest))).toBe(`look at the ${missing}`);
  }
});
