import { expect, test } from '@jest/globals';
import {
  type PodStatus,
  type RunnerSays,
  isUnused,
  podMayGo,
  podSays,
  runnerSays,
} from './may-end.ts';
import {
  type StopEvidence,
  type StopStep,
  type StoppingWorker,
  hasOutlived,
  isUnplaced,
  nextStopStep,
} from './stop-steps.ts';

const RULES = {
  idleApartMs: 60_000,
  unreadMs: 600_000,
  lastLookMs: 30_000,
  offlineMs: 600_000,
  retryMs: 45_000,
};

/** A registered worker that was idle and is to be stopped; GitHub has called it idle for long. */
const WORKER: StoppingWorker = {
  hasEnded: false,
  isStopping: true,
  reason: 'idle',
  isAssigned: false,
  hadJob: false,
  hadPod: true,
  hadStarted: true,
  podlessForMs: null,
  registrationBegun: true,
  deregistration: 'none',
  deregisteredForMs: null,
  wasOnline: true,
  idleForMs: 60_000,
  offlineForMs: null,
  stoppingForMs: 0,
  heldBy: null,
};

/** What a row of the tables says of the worker beside a reason and times. */
const WORDS: Readonly<Record<string, Partial<StoppingWorker>>> = {
  ended: { hasEnded: true },
  'to stay': { isStopping: false },
  deregistered: { deregistration: 'done', deregisteredForMs: 30_000 },
  'deregistered just now': { deregistration: 'done', deregisteredForMs: 10_000 },
  'never registered': { registrationBegun: false },
  'never had a pod': { hadPod: false },
  'never started': { hadStarted: false },
  'never online': { wasOnline: false },
  'never idle': { idleForMs: null },
  assigned: { isAssigned: true },
  'had a job': { hadJob: true },
  'held up by another': { heldBy: 'GitHub is away' },
  'after more runs': { heldBy: `${heldBy('unreadable')}: GitHub is asked for more runs` },
};

/** What an attempt finds in a log that proves nothing. */
function heldBy(log: string): string | null {
  const found: Record<string, string> = {
    unreadable: 'its log cannot be read',
    cut: 'its log has lost its beginning',
    silent: 'its log shows no line of a runner',
    none: 'its node says that it has not run, although it has',
  };
  return `${found[log]}, so it is not known whether a job runs`;
}

/** The evidence that the words of a row say; `before`: what holds for its whole table. */
function evidenceOf(words: string, before: Partial<StoppingWorker> = {}): StopEvidence {
  const seen: Record<string, unknown> = {};
  const worker: Record<string, unknown> = { ...WORKER, ...before };
  for (const word of words.split(', ').filter((some) => some !== '')) {
    const [, part, says] = /^(pod|runner|log|job) (\w+)$/.exec(word) ?? [];
    const [, state, seconds] = /^(idle|offline|stopping) for ([\d.]+) s$/.exec(word) ?? [];
    if (part !== undefined) seen[part] = says;
    else if (state !== undefined) worker[`${state}ForMs`] = Number(seconds) * 1000;
    else if (word === 'going') seen['isGoing'] = true;
    else if (word.startsWith('for ')) worker['reason'] = word.slice(4);
    else if (WORDS[word] === undefined) throw new Error(`no row may say "${word}"`);
    else Object.assign(worker, WORDS[word]);
  }
  return { ...seen, worker } as unknown as StopEvidence;
}

/** What the step is, without its sentence. */
function brief(step: StopStep): string {
  if ('look' in step) return `look at the ${step.look}`;
  if (step.act === 'wait') return `wait ${step.forMs / 1000} s${step.heldUp ? ', held up' : ''}`;
  return step.act === 'keep' ? `keep, ${step.assigned ? 'assigned' : 'unassigned'}` : step.act;
}

/** The next step after what a row says before its arrow, and the one after its arrow. */
const stepAfter = (row: string, before?: Partial<StoppingWorker>) =>
  brief(nextStopStep(evidenceOf(row.replace(/ ?→.*/, ''), before), RULES));
const stepIn = (row: string) => row.replace(/.*→ /, '');

test.each([
  'ended → leave',
  'to stay → leave',
  'pod working, assigned → keep, assigned',
  'pod working, runner busy → keep, assigned',
  'pod working, runner online, log listening, idle for 0 s, for not_assigned → wait 60 s',
  'pod working, runner online, log job_begun → look at the job',
  'pod working, runner online, log job_begun, job found → bind',
  'pod working, runner online, log job_begun, job more → keep, assigned',
  // Its worker has had it.
  'pod working, runner online, log job_over, job none → keep, assigned',
  'pod working, runner online, log job_begun, job none → keep, assigned',
  'pod unstarted, runner unknown, log unreadable, job none, never online → wait 45 s, held up',
  // It may have run its job.
  'pod working, runner unknown, log silent, job none, never online → wait 45 s, held up',
  'pod working, log job_begun, job none, deregistered → keep, assigned',
  'pod working, deregistered, assigned → keep, assigned',
  'pod working, deregistered just now, assigned → keep, assigned',
  'pod working, log listening, job none, deregistered just now → wait 20 s',
  'pod working, log listening, job none, deregistered → delete_pod',
])('the way to an end, in this order (E5): %s', (row) => {
  expect(stepAfter(row)).toBe(stepIn(row));
});

test.each([
  'pod unplaced, runner offline, never online, for pending_timeout, idle for 0 s → deregister',
  'pod unplaced, runner offline, never online, for surplus, idle for 0 s → wait 60 s',
  'pod unplaced, runner busy, never online → keep, assigned',
  'pod unplaced, deregistered just now, never online → delete_pod',
  // Somebody runs it elsewhere, or has.
  'pod unplaced, runner online → look at the log',
  'pod unplaced, runner offline, never online, had a job → look at the log',
  'pod unstarted, runner online, log none → wait 45 s, held up',
  'pod unstarted, runner unknown, log silent, never online → deregister',
  'pod unstarted, runner offline, log unreadable, never online → deregister',
  'pod unstarted, runner offline, log unreadable, never online, for drained, idle for 0 s → wait 60 s',
  'pod working, runner offline, log unreadable, never online → wait 45 s, held up',
  'pod unstarted, runner online, log job_begun, job none → keep, assigned',
  'pod unstarted, runner online, log job_begun, job none, deregistered → keep, assigned',
  'pod unstarted, runner unknown, log job_begun, job none, never online → keep, assigned',
  'pod unstarted, runner busy → keep, assigned',
  'pod unstarted, log job_begun, job none, deregistered, never online → keep, assigned',
  'pod working, going → wait 45 s, held up',
  'pod over, going → wait 45 s, held up',
  'pod unstarted, going, runner offline, log none, never online, for pod_gone → deregister',
  'pod unstarted, going, log none, never online, deregistered → wait 45 s, held up',
  'pod unstarted, going, runner online, log job_begun, job none, never online → keep, assigned',
  'pod ended → record',
  'pod working, for pending_timeout → keep, unassigned',
  'pod working, log silent, job none, deregistered, never online, for pending_timeout → delete_pod',
  'pod working, for pod_gone → keep, unassigned',
  'pod working, assigned, for pod_gone → keep, assigned',
])('a pod says what may run (E5): %s', (row) => {
  expect(stepAfter(row)).toBe(stepIn(row));
});

test.each([
  'pod absent, for pod_gone → look at the runner',
  'pod absent, runner unknown, for pod_gone → end',
  'pod absent, runner offline, offline for 200 s → wait 400 s',
  'pod absent, runner offline, deregistered, never online, never had a pod → end',
  'pod absent, runner busy, offline for 600 s → end',
  'pod absent, deregistered → end',
  // Idle is no proof.
  'pod absent, runner online, assigned, never had a pod → wait 45 s, held up',
  'never had a pod, never registered → end',
  'never registered → look at the pod',
  'pod absent, runner offline, never online, never started → deregister',
  'pod absent, runner offline, never started, offline for 0 s → wait 600 s',
  'pod absent, runner offline, never online, offline for 0 s → wait 600 s',
  'pod absent, runner offline, never online, never had a pod, had a job, offline for 0 s → wait 600 s',
  'pod absent, runner unknown, never online, never had a pod → end',
  'pod absent, runner busy, never online, never had a pod → keep, assigned',
])('without a pod only GitHub’s word ends a row (A3): %s', (row) => {
  expect(stepAfter(row)).toBe(stepIn(row));
});

test.each([
  'pod over, assigned → keep, assigned',
  'pod over, runner busy → keep, assigned',
  'pod over, deregistered → delete_pod',
  'pod working, runner online, log job_begun, job none → keep, assigned',
  'pod working, runner unknown, log job_begun, job none → wait 45 s, held up',
  'pod working, log silent, job none, deregistered → wait 45 s, held up',
  'pod working, log job_begun, job none, deregistered → keep, assigned',
])('a worker that has had its job, or is no more believed to have one (E5, P2): %s', (row) => {
  expect(stepAfter(row, { reason: 'over', hadJob: true, wasOnline: false })).toBe(stepIn(row));
});

test.each([
  'pod working, runner online, log unreadable, held up by another → wait 45 s, held up',
  'pod working, runner online, log unreadable, idle for 599.999 s → wait 45 s, held up',
  'pod working, runner online, log unreadable, stopping for 599.999 s → wait 45 s, held up',
  'pod working, runner online, log unreadable, job more → wait 45 s, held up',
  'pod working, runner online, log unreadable, after more runs → look at the job',
  'pod working, runner online, log cut, job none → deregister',
  'pod working, runner online, log silent, job none → deregister',
  'pod working, runner online, log none, job none → deregister',
  'pod working, runner unknown, log unreadable, never idle → look at the job',
  // A person must decide.
  'pod working, runner unknown, log unreadable, job none, had a job, never idle → wait 45 s, held up',
  'pod working, runner online, log unreadable, had a job → look at the job',
  'pod working, runner online, log unreadable, job found, deregistered → bind',
  'pod working, log unreadable, job none, deregistered, never idle → delete_pod',
])('a log that proves nothing leaves the word to GitHub, for long (P2): %s', (row) => {
  const [, log = ''] = /log (\w+)/.exec(row) ?? [];
  expect(stepAfter(row, { idleForMs: 600_000, stoppingForMs: 600_000, heldBy: heldBy(log) })).toBe(
    stepIn(row),
  );
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
  const full = evidenceOf('pod working, runner online, log listening');
  for (const missing of ['pod', 'runner', 'log'] as const) {
    const { [missing]: _left, ...rest } = full;
    expect(brief(nextStopStep(rest, RULES))).toBe(`look at the ${missing}`);
  }
});

test.each([
  ['pod unplaced, never online', true],
  ['pod unstarted, never online', false],
  ['pod unplaced', false],
  ['pod unplaced, never online, had a job', false],
  ['pod unplaced, never online, assigned', false],
  ['pod unplaced, never online, going', false],
])('a pod is deleted without GitHub only where nothing can have run: %s', (words, expected) => {
  expect(isUnplaced(evidenceOf(words))).toBe(expected);
});

const RUNNING: PodStatus = {
  phase: 'Running',
  nodeName: 'node-1',
  runner: { state: 'running' },
  runnerStartedAt: new Date(0),
  containersTerminated: false,
};
const untold = {
  phase: 'Pending',
  runner: { state: 'unknown' },
  containersTerminated: false,
} as const;
const waits = { ...untold, nodeName: 'node-1', runner: { state: 'waiting' } } as const;
const over = { ...RUNNING, runner: { state: 'terminated' } } as const;
const ended = { ...over, containersTerminated: true };

/** What a pod says, and whether it may go. */
test.each<[string, PodStatus | undefined, string]>([
  ['gone', undefined, 'absent'],
  ['on no node', untold, 'unplaced, unchanged'],
  ['on a node that has not reported', { ...untold, nodeName: 'node-1' }, 'unstarted, unchanged'],
  ['waiting for its image', waits, 'unstarted, unchanged'],
  ['waiting again after it ran', { ...waits, runnerStartedAt: new Date(0) }, 'working, no'],
  ['running while another container waits', { ...RUNNING, phase: 'Pending' }, 'working, no'],
  ['running', RUNNING, 'working, no'],
  ['running by its state alone', { ...waits, runner: { state: 'running' } }, 'working, no'],
  ['called succeeded, and seems to run', { ...RUNNING, phase: 'Succeeded' }, 'working, now'],
  ['running, and no container has reported', { ...untold, phase: 'Running' }, 'working, no'],
  ['of a node that is silent', { ...untold, phase: 'Unknown' }, 'working, no'],
  ['failed with its node, and seems to run', { ...RUNNING, phase: 'Failed' }, 'working, now'],
  ['over beside others', over, 'over, no'],
  ['over, and not yet called ended', ended, 'over, now'],
  ['ended', { ...ended, phase: 'Succeeded' }, 'ended, now'],
  [
    'evicted before it started',
    { ...untold, phase: 'Failed', containersTerminated: true },
    'ended, now',
  ],
])('a pod %s (E5, P2)', (_which, pod, expected) => {
  const mayGo = pod === undefined ? [] : [podMayGo(pod)];
  expect([podSays(pod), ...mayGo].join(', ')).toBe(expected);
});

test.each<[RunnerSays, Parameters<typeof runnerSays>[0], boolean]>([
  ['unknown', undefined, true],
  ['offline', { online: false, busy: false }, true],
  ['online', { online: true, busy: false }, false],
  ['busy', { online: true, busy: true }, false],
  ['busy', { online: false, busy: true }, false],
])('a runner that GitHub calls %s: %j (P2)', (says, runner, unused) => {
  expect([runnerSays(runner), isUnused(runnerSays(runner))]).toEqual([says, unused]);
});
