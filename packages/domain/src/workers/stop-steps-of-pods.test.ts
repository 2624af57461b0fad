import { describe, expect, test } from '@jest/globals';
import { DEREGISTERED, type Given, IDLE, brief, decide } from '../scenes/stop-evidence.scene.ts';
import {
  type PodStatus,
  type RunnerSays,
  isUnused,
  podMayGo,
  podSays,
  runnerSays,
} from './nothing-runs.ts';

const NEVER_STARTED = { pod: 'unstarted', worker: { wasOnline: false } } as const;
const NO_NODE = { pod: 'unplaced', worker: { wasOnline: false } } as const;
const SURPLUS = { wasOnline: false, reason: 'surplus', idleForMs: 0 } as const;
const WORKS = { runner: 'online', job: 'none', log: 'job_begun' } as const;

describe('the state of its pod', () => {
  test.each<[string, Given, string]>([
    ['no node has it: GitHub must answer once', NO_NODE, 'look at the runner'],
    [
      'no node has it: no log, no run, and no second answer',
      { pod: 'unplaced', runner: 'offline', worker: { ...SURPLUS, reason: 'pending_timeout' } },
      'deregister',
    ],
    [
      'no node has it, and the matcher may take it back: no hurry',
      { pod: 'unplaced', runner: 'offline', worker: SURPLUS },
      'wait 60000',
    ],
    [
      'no node has it, and GitHub does not know it',
      { ...NO_NODE, runner: 'unknown' },
      'deregister',
    ],
    ['no node has it, and GitHub calls it busy', { ...NO_NODE, runner: 'busy' }, 'keep, assigned'],
    [
      'no node has it, but its runner was online: somebody runs it elsewhere',
      { pod: 'unplaced', runner: 'offline' },
      'look at the log',
    ],
    [
      'no node has it, and it is deregistered: at once',
      {
        pod: 'unplaced',
        worker: { ...DEREGISTERED, deregisteredForMs: 0, wasOnline: false },
      },
      'delete_pod',
    ],
    [
      'it never started, nor was its runner ever online: its node must say so',
      { ...NEVER_STARTED, runner: 'offline' },
      'look at the log',
    ],
    [
      'the same, and its node says so: no run',
      { ...NEVER_STARTED, runner: 'offline', log: 'none' },
      'deregister',
    ],
    [
      'the same, and its node does not answer: a second answer of GitHub is needed',
      {
        pod: 'unstarted',
        runner: 'offline',
        log: 'unreadable',
        worker: { wasOnline: false, idleForMs: 0, reason: 'pending_timeout' },
      },
      'wait 60000',
    ],
    [
      'the same, and GitHub answers twice',
      { ...NEVER_STARTED, runner: 'offline', log: 'unreadable' },
      'deregister',
    ],
    [
      'the same, and it is deregistered',
      { pod: 'unstarted', log: 'unreadable', worker: { ...DEREGISTERED, wasOnline: false } },
      'delete_pod',
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
    ['it is being deleted', { pod: 'working', isGoing: true }, 'wait 45000, held up'],
    ['it is over, and being deleted', { pod: 'over', isGoing: true }, 'wait 45000, held up'],
    [
      'it is being deleted, and had not started: its registration goes',
      { ...NO_NODE, isGoing: true, runner: 'offline' },
      'deregister',
    ],
    [
      'it is being deleted, was missed, and had not started',
      {
        pod: 'unstarted',
        isGoing: true,
        runner: 'offline',
        log: 'none',
        worker: { wasOnline: false, reason: 'pod_gone' },
      },
      'deregister',
    ],
    [
      'it is being deleted, had not started, and is deregistered',
      {
        ...NEVER_STARTED,
        isGoing: true,
        log: 'none',
        worker: { ...DEREGISTERED, wasOnline: false },
      },
      'wait 45000, held up',
    ],
    [
      'it is being deleted, and by its log it had started',
      { ...NEVER_STARTED, ...WORKS, isGoing: true },
      'keep, assigned',
    ],
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
        log: 'none',
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
      'offline for less',
      { pod: 'absent', runner: 'offline', worker: { offlineForMs: 200_000 } },
      'wait 400000',
    ],
    [
      'its pod was never made, and it is deregistered',
      { pod: 'absent', runner: 'offline', worker: { ...never.worker, ...DEREGISTERED } },
      'end',
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
    [
      'gone before it started, idle twice: the registration goes first',
      { pod: 'absent', runner: 'offline', worker: { hadStarted: false, wasOnline: false } },
      'deregister',
    ],
    [
      'gone before it started, but its runner was online',
      {
        pod: 'absent',
        runner: 'offline',
        worker: { hadStarted: false, offlineForMs: 0 },
      },
      'wait 600000',
    ],
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

const RUNNING: PodStatus = {
  phase: 'Running',
  nodeName: 'node-1',
  runner: { state: 'running' },
  runnerStartedAt: new Date(0),
  containersTerminated: false,
};
const waits = {
  phase: 'Pending',
  runner: { state: 'waiting' },
  containersTerminated: false,
} as const;
const untold = { ...waits, runner: { state: 'unknown' } } as const;
const over = { runner: { state: 'terminated' } } as const;

test.each<[string, PodStatus | undefined, string, string]>([
  ['gone', undefined, 'absent', ''],
  ['on no node', untold, 'unplaced', 'unchanged'],
  ['on a node that has not reported', { ...untold, nodeName: 'node-1' }, 'unstarted', 'unchanged'],
  ['waiting for its image', { ...waits, nodeName: 'node-1' }, 'unstarted', 'unchanged'],
  [
    'waiting again after it ran',
    { ...waits, nodeName: 'node-1', runnerStartedAt: new Date(0) },
    'working',
    'no',
  ],
  ['running while another container waits', { ...RUNNING, phase: 'Pending' }, 'working', 'no'],
  ['running', RUNNING, 'working', 'no'],
  [
    'running by its state alone',
    { ...waits, nodeName: 'node-1', runner: { state: 'running' } },
    'working',
    'no',
  ],
  [
    'called succeeded, while its container seems to run',
    { ...RUNNING, phase: 'Succeeded' },
    'working',
    'now',
  ],
  ['running, and no container has reported', { ...untold, phase: 'Running' }, 'working', 'no'],
  ['of a node that is silent', { ...untold, phase: 'Unknown' }, 'working', 'no'],
  [
    'failed with its node, while its container seems to run',
    { ...RUNNING, phase: 'Failed' },
    'working',
    'now',
  ],
  ['over beside others', { ...RUNNING, ...over }, 'over', 'no'],
  [
    'over, and not yet called ended',
    { ...RUNNING, ...over, containersTerminated: true },
    'over',
    'now',
  ],
  [
    'ended',
    { ...RUNNING, ...over, phase: 'Succeeded', containersTerminated: true },
    'ended',
    'now',
  ],
  [
    'evicted before it started',
    { ...untold, phase: 'Failed', containersTerminated: true },
    'ended',
    'now',
  ],
])('a pod %s (E5, P2)', (_which, pod, says, mayGo) => {
  expect([podSays(pod), pod === undefined ? '' : podMayGo(pod)]).toEqual([says, mayGo]);
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
