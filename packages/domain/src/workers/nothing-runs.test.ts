import { expect, test } from '@jest/globals';
import {
  isUnused,
  type PodStatus,
  podMayGo,
  podSays,
  type RunnerSays,
  runnerSays,
} from './nothing-runs.ts';

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
