import { describe, expect, test } from '@jest/globals';
import { isPulling, type PodEvent } from './events.ts';
import { type ObservedContainer, type ObservedPod, observePod } from './observed-pod.ts';
import { podFailure } from './pod-failure.ts';

const START = '2026-11-20T10:00:05Z';
const END = '2026-11-20T10:09:00Z';

function podWith(status: object, spec: object = {}, metadata: object = {}) {
  return observePod({
    metadata: {
      name: 'p',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '9',
      creationTimestamp: '2026-11-20T10:00:00Z',
      ...metadata,
    },
    spec: { containers: [{ name: 'runner', image: 'i' }, { name: 'dind' }], ...spec },
    status,
  });
}
const container = (name: string, state: object) => ({
  name,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
});
const running = (name: string, startedAt = START) => container(name, { running: { startedAt } });
const ended = (name: string, exitCode = 0, more: object = {}) =>
  container(name, { terminated: { exitCode, startedAt: START, finishedAt: END, ...more } });

describe('observePod', () => {
  test('a pod first seen Succeeded has both its start and its end (A3)', () => {
    const earlier = { finishedAt: '2026-11-20T10:08:00Z' };
    const containerStatuses = [ended('runner'), ended('dind', 0, earlier)];
    expect(podWith({ phase: 'Succeeded', containerStatuses })).toMatchObject({
      runningAt: new Date(START),
      endedAt: new Date(END),
      containersTerminated: true,
    });
  });

  test('the exit code, reason and message of the runner are kept (C8)', () => {
    const said = { reason: 'OOMKilled', message: 'm' };
    const containerStatuses = [ended('dind'), ended('runner', 137, said)];
    expect(podWith({ phase: 'Failed', containerStatuses }).runner).toEqual({
      name: 'runner',
      state: 'terminated',
      exitCode: 137,
      ...said,
    });
  });

  test('an evicted pod without container statuses has no start, and ends when its conditions say (A3)', () => {
    const evicted = { reason: 'Evicted', message: 'low on memory', startTime: START };
    const conditions = [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: END }];
    expect(podWith({ phase: 'Failed', ...evicted, conditions })).toMatchObject({
      podReason: 'Evicted',
      podMessage: 'low on memory',
      runningAt: undefined,
      endedAt: new Date(END),
      containersTerminated: true,
    });
  });

  test.each([
    ['of a lost node whose containers look as if they ran', 'Failed', [running('runner')], false],
    ['with a sidecar that runs', 'Running', [ended('runner'), running('dind')], false],
    ['whose containers have all ended', 'Running', [ended('runner'), ended('dind')], true],
  ])('a pod %s (%s): all terminated, %#: %j (A3, P2)', (_what, phase, containerStatuses, is) => {
    expect(podWith({ phase, containerStatuses }).containersTerminated).toBe(is);
  });

  test('a native sidecar runs no job: a pod that has ended stays ended, even with an older state (A3)', () => {
    const containerStatuses = [ended('runner')];
    const initContainerStatuses = [ended('prepare'), running('dind')];
    expect(podWith({ phase: 'Succeeded', containerStatuses, initContainerStatuses })).toMatchObject(
      { containersTerminated: true, endedAt: new Date(END) },
    );
  });

  test.each([
    [{ reason: 'PodInitializing' }, undefined],
    [{ reason: 'ImagePullBackOff', message: 'not found' }, 'ImagePullBackOff'],
  ])('a container waiting with %j gives the reason %s (C11)', (waiting, reason) => {
    const creating = container('dind', { waiting: { reason: 'ContainerCreating' } });
    const containerStatuses = [creating, container('runner', { waiting })];
    expect(podWith({ phase: 'Pending', containerStatuses }).waitingReason).toBe(reason);
  });

  test('an init container that cannot start is the reason, not the containers that wait for it', () => {
    const waiting = { reason: 'ErrImagePull', message: 'denied' };
    const pod = podWith({
      phase: 'Pending',
      initContainerStatuses: [container('setup', { waiting })],
      containerStatuses: [container('runner', { waiting: { reason: 'PodInitializing' } })],
    });
    expect(pod).toMatchObject({ waitingReason: 'ErrImagePull', waitingMessage: 'denied' });
  });

  test("a pod that fits no node carries the scheduler's sentence (C11)", () => {
    const message = '0/3 nodes are available';
    const waits = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
    expect(podWith({ phase: 'Pending', conditions: [waits] }).unschedulable).toBe(message);
  });
});

const pod = (given: Partial<ObservedPod>): ObservedPod => ({
  name: 'pdk-abc123-linux-0123456789ab',
  namespace: 'runners',
  uid: 'uid',
  resourceVersion: '1',
  phase: 'Failed',
  createdAt: new Date(0),
  runner: { name: 'runner', state: 'unknown' },
  containers: [],
  containersTerminated: true,
  conditions: [],
  ...given,
});
const endedWith = (name: string, exitCode: number, reason?: string): ObservedContainer => ({
  name,
  state: 'terminated',
  exitCode,
  reason,
});

const deleted = { deletionTimestamp: new Date(0) };

describe('podFailure (C8, P5)', () => {
  test.each([
    [{ podReason: 'Evicted', podMessage: 'low on memory' }, 'evicted', 'Evicted: low on memory'],
    [{ podReason: 'NodeShutdown' }, 'node_lost', 'NodeShutdown'],
    [{ podReason: 'DeadlineExceeded' }, 'deadline', 'DeadlineExceeded'],
    [{ podReason: 'OutOfnvidia.com/gpu' }, 'node_refused', 'OutOfnvidia.com/gpu'],
    [{ disruption: 'PreemptionByScheduler' }, 'evicted', 'PreemptionByScheduler'],
    [{ disruption: 'DeletionByPodGC' }, 'node_lost', 'DeletionByPodGC'],
    [{}, 'unknown', 'the pod failed'],
  ] as const)('of a failed pod with %j is %s', (given, reason, message) => {
    expect(podFailure(pod(given))).toEqual({ reason, message });
  });

  test.each([
    [endedWith('runner', 143, 'Error'), { disruption: 'EvictionByEvictionAPI' }, 'evicted'],
    [endedWith('runner', 143, 'Error'), deleted, 'pod_deleted'],
    [endedWith('runner', 1, 'Error'), deleted, 'exit_code'],
    [endedWith('runner', 137, 'OOMKilled'), deleted, 'out_of_memory'],
    [endedWith('runner', 137, 'ContainerStatusUnknown'), {}, 'node_lost'],
    [endedWith('runner', 127, 'ContainerCannotRun'), {}, 'container_config'],
    [endedWith('runner', 128, 'StartError'), {}, 'container_config'],
    [endedWith('runner', 7, 'Error'), {}, 'outdated_runner'],
    [endedWith('dind', 7), {}, 'exit_code'],
  ])('of the container %j, with %j, is %s', (over, given, reason) => {
    const { name, exitCode, reason: word } = over;
    const words = `container ${name} ended with exit code ${exitCode}${word === undefined ? '' : ` (${word})`}`;
    const failed = { containers: [over], ...(name === 'runner' && { runner: over }) };
    expect(podFailure(pod({ ...failed, ...given }))).toEqual({
      reason,
      message: expect.stringContaining(words),
    });
  });

  test('is the runner’s, if it failed too', () => {
    const failed = { runner: endedWith('runner', 2), containers: [endedWith('dind', 1)] };
    expect(podFailure(pod(failed))?.message).toBe('container runner ended with exit code 2');
  });

  test.each([
    [{ waitingReason: 'ImagePullBackOff', waitingMessage: 'no such tag' }, 'image_pull'],
    [{ waitingReason: 'ErrImageNeverPull' }, 'image_pull'],
    [{ waitingReason: 'InvalidImageName' }, 'image_pull'],
    [{ waitingReason: 'CreateContainerConfigError' }, 'container_config'],
    [{ waitingReason: 'RunContainerError' }, 'container_config'],
    [{ waitingReason: 'CreatePodSandboxError' }, 'container_config'],
    [{ waitingReason: 'CrashLoopBackOff' }, 'crash_loop'],
    [{ waitingReason: 'SomethingNew' }, 'unknown'],
    [{ unschedulable: '0/3 nodes are available' }, 'unschedulable'],
  ] as const)('of a pending pod with %j is %s', (given, reason) => {
    const message = Object.values(given).join(': ');
    expect(podFailure(pod({ phase: 'Pending', ...given }))).toEqual({ reason, message });
  });

  test.each([
    [{ disruption: 'EvictionByEvictionAPI' }, 'evicted', 'EvictionByEvictionAPI'],
    [deleted, 'pod_deleted', 'the pod was deleted'],
  ] as const)(
    'of a pod that ended well when asked to, with %j, is %s',
    (given, reason, message) => {
      const runner = endedWith('runner', 0, 'Completed');
      expect(podFailure(pod({ phase: 'Succeeded', runner, ...given }))).toEqual({
        reason,
        message,
      });
    },
  );

  test.each(['Pending', 'Running', 'Unknown', 'Succeeded'] as const)('is none if %s', (phase) => {
    expect(podFailure(pod({ phase }))).toBeUndefined();
  });
});

const event = (
  reason: string,
  second: number,
  { source = 'kubelet', container: of = 'runner' } = {},
): PodEvent => ({
  type: 'Normal',
  reason,
  message: '',
  count: 1,
  lastAt: new Date(1_700_000_000_000 + second * 1_000),
  source,
  container: of,
});
const sidecar = { container: 'sidecar' };
const failedAt3 = event('Failed', 3);

test.each<[string, readonly PodEvent[], boolean]>([
  ['nothing is known', [], false],
  ['the first pull', [event('Pulling', 1)], true],
  ['a pull that failed within its second', [event('Pulling', 3), failedAt3], false],
  [
    'in the second of a sidecar’s failure',
    [event('Failed', 3, sidecar), event('Pulling', 3)],
    true,
  ],
  ['a sidecar’s, in the second of a failure', [failedAt3, event('Pulling', 3, sidecar)], true],
  ['a sidecar fails later', [event('Pulling', 3), event('Failed', 4, sidecar)], false],
  ['the pause before the next', [failedAt3, event('BackOff', 14)], false],
  ['the second pull', [failedAt3, event('BackOff', 14), event('Pulling', 30)], true],
  ['it has come, and the container starts', [failedAt3, event('Pulled', 90)], true],
  ['of another source', [failedAt3, event('Pulling', 30, { source: 'prefetcher' })], false],
])('an image that is being pulled: %s (C8)', (_what, events, expected) => {
  expect(isPulling(events)).toBe(expected);
});
