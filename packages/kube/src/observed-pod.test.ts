import { describe, expect, test } from '@jest/globals';
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
    const pod = podWith({
      phase: 'Succeeded',
      containerStatuses: [
        ended('runner'),
        ended('dind', 0, { finishedAt: '2026-11-20T10:08:00Z' }),
      ],
    });
    expect(pod).toMatchObject({
      runningAt: new Date(START),
      endedAt: new Date(END),
      containersTerminated: true,
    });
  });

  test('the exit code, reason and message of the runner are kept (C8)', () => {
    const { runner } = podWith({
      phase: 'Failed',
      containerStatuses: [
        ended('dind'),
        ended('runner', 137, { reason: 'OOMKilled', message: 'm' }),
      ],
    });
    expect(runner).toEqual({
      name: 'runner',
      state: 'terminated',
      exitCode: 137,
      reason: 'OOMKilled',
      message: 'm',
    });
  });

  test('an evicted pod without container statuses has no start, and ends when its conditions say (A3)', () => {
    const pod = podWith({
      phase: 'Failed',
      reason: 'Evicted',
      message: 'low on memory',
      startTime: START,
      conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: END }],
    });
    expect(pod).toMatchObject({
      podReason: 'Evicted',
      podMessage: 'low on memory',
      endedAt: new Date(END),
      containersTerminated: true,
    });
    expect(pod.runningAt).toBeUndefined();
  });

  test('a failed pod of a lost node is not terminated while its containers still look as if they ran (A3, P2)', () => {
    expect(
      podWith({ phase: 'Failed', reason: 'NodeLost', containerStatuses: [running('runner')] })
        .containersTerminated,
    ).toBe(false);
  });

  test('a native sidecar runs no job: a pod that has ended stays ended, even with an older state (A3)', () => {
    const initContainerStatuses = [ended('prepare'), running('dind')];
    const pod = podWith({
      phase: 'Succeeded',
      containerStatuses: [ended('runner')],
      initContainerStatuses,
    });
    expect(pod).toMatchObject({ containersTerminated: true, endedAt: new Date(END) });
  });

  test('a sidecar that still runs keeps the pod from being terminated (A3)', () => {
    const mixed = podWith({
      phase: 'Running',
      containerStatuses: [ended('runner'), running('dind')],
    });
    const all = podWith({ phase: 'Running', containerStatuses: [ended('runner'), ended('dind')] });
    expect([mixed.containersTerminated, all.containersTerminated]).toEqual([false, true]);
  });

  test.each([
    [{ reason: 'ContainerCreating' }, undefined],
    [{ reason: 'PodInitializing' }, undefined],
    [{ reason: 'ImagePullBackOff', message: 'not found' }, 'ImagePullBackOff'],
    [{ reason: 'CreateContainerConfigError' }, 'CreateContainerConfigError'],
  ])('a container waiting with %j gives the reason %s (C11)', (waiting, reason) => {
    const pod = podWith({
      phase: 'Pending',
      containerStatuses: [
        container('dind', { waiting: { reason: 'ContainerCreating' } }),
        container('runner', { waiting }),
      ],
    });
    expect(pod.waitingReason).toBe(reason);
  });

  test('an init container that cannot start is the reason, not the containers that wait for it', () => {
    const pod = podWith({
      phase: 'Pending',
      initContainerStatuses: [
        container('setup', { waiting: { reason: 'ErrImagePull', message: 'denied' } }),
      ],
      containerStatuses: [container('runner', { waiting: { reason: 'PodInitializing' } })],
    });
    expect(pod).toMatchObject({ waitingReason: 'ErrImagePull', waitingMessage: 'denied' });
  });

  test("a pod that fits no node carries the scheduler's sentence (C11)", () => {
    const conditions = [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: '0/3 nodes are available',
      },
    ];
    expect(podWith({ phase: 'Pending', conditions }).unschedulable).toBe('0/3 nodes are available');
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
  ...given,
});
const endedWith = (name: string, exitCode: number, reason?: string): ObservedContainer => ({
  name,
  state: 'terminated',
  exitCode,
  ...(reason === undefined ? {} : { reason }),
});

describe('podFailure (C8, P5)', () => {
  test.each([
    [{ podReason: 'Evicted', podMessage: 'low on memory' }, 'evicted', 'Evicted: low on memory'],
    [{ podReason: 'Preempting' }, 'evicted', 'Preempting'],
    [
      { podReason: 'NodeShutdown', podMessage: 'the node goes' },
      'node_lost',
      'NodeShutdown: the node goes',
    ],
    [{ podReason: 'DeadlineExceeded' }, 'deadline', 'DeadlineExceeded'],
    [{ podReason: 'SomethingNew' }, 'unknown', 'SomethingNew'],
    [
      { podReason: 'Terminated', podMessage: 'the node shuts down' },
      'node_lost',
      'Terminated: the node shuts down',
    ],
    [{ podReason: 'NodeLost' }, 'node_lost', 'NodeLost'],
    [
      { podReason: 'UnexpectedAdmissionError', podMessage: 'no GPU' },
      'node_refused',
      'UnexpectedAdmissionError: no GPU',
    ],
    [{ podReason: 'OutOfcpu' }, 'node_refused', 'OutOfcpu'],
    [{ podReason: 'OutOfnvidia.com/gpu' }, 'node_refused', 'OutOfnvidia.com/gpu'],
    [{ podReason: 'NodeAffinity' }, 'node_refused', 'NodeAffinity'],
    [
      { disruption: 'EvictionByEvictionAPI', runner: endedWith('runner', 143, 'Error') },
      'evicted',
      'EvictionByEvictionAPI: container runner ended with exit code 143 (Error)',
    ],
    [{ disruption: 'PreemptionByScheduler' }, 'evicted', 'PreemptionByScheduler'],
    [
      { deletionTimestamp: new Date(0), runner: endedWith('runner', 143, 'Error') },
      'pod_deleted',
      'the pod was deleted: container runner ended with exit code 143 (Error)',
    ],
    [
      { deletionTimestamp: new Date(0), runner: endedWith('runner', 1, 'Error') },
      'exit_code',
      'container runner ended with exit code 1 (Error)',
    ],
    [
      { deletionTimestamp: new Date(0), runner: endedWith('runner', 137, 'OOMKilled') },
      'out_of_memory',
      'container runner ended with exit code 137 (OOMKilled)',
    ],
    [{ disruption: 'DeletionByPodGC' }, 'node_lost', 'DeletionByPodGC'],
    [{ disruption: 'DeletionByTaintManager' }, 'node_lost', 'DeletionByTaintManager'],
    [
      { runner: endedWith('runner', 137, 'ContainerStatusUnknown') },
      'node_lost',
      'container runner ended with exit code 137 (ContainerStatusUnknown)',
    ],
    [
      { containers: [endedWith('init-dind-externals', 1, 'Error')] },
      'exit_code',
      'container init-dind-externals ended with exit code 1 (Error)',
    ],
    [
      { runner: endedWith('runner', 127, 'ContainerCannotRun') },
      'container_config',
      'container runner ended with exit code 127 (ContainerCannotRun)',
    ],
    [
      { runner: endedWith('runner', 137, 'OOMKilled') },
      'out_of_memory',
      'container runner ended with exit code 137 (OOMKilled)',
    ],
    [
      { runner: endedWith('runner', 7, 'Error') },
      'outdated_runner',
      'container runner ended with exit code 7 (Error)',
    ],
    [{ containers: [endedWith('dind', 7)] }, 'exit_code', 'container dind ended with exit code 7'],
    [
      { runner: endedWith('runner', 128, 'StartError') },
      'container_config',
      'container runner ended with exit code 128 (StartError)',
    ],
    [
      { runner: endedWith('runner', 2), containers: [endedWith('dind', 1)] },
      'exit_code',
      'container runner ended with exit code 2',
    ],
    [{}, 'unknown', 'the pod failed'],
  ] as const)('of a failed pod with %j is %s', (given, reason, message) => {
    expect(podFailure(pod(given))).toEqual({ reason, message });
  });

  test.each([
    [
      { waitingReason: 'ImagePullBackOff', waitingMessage: 'no such tag' },
      'image_pull',
      'ImagePullBackOff: no such tag',
    ],
    [
      { waitingReason: 'CreateContainerConfigError' },
      'container_config',
      'CreateContainerConfigError',
    ],
    [{ waitingReason: 'CrashLoopBackOff' }, 'crash_loop', 'CrashLoopBackOff'],
    [{ waitingReason: 'SomethingNew' }, 'unknown', 'SomethingNew'],
    [{ unschedulable: '0/3 nodes are available' }, 'unschedulable', '0/3 nodes are available'],
  ] as const)('of a pending pod with %j is %s', (given, reason, message) => {
    expect(podFailure(pod({ phase: 'Pending', ...given }))).toEqual({ reason, message });
  });

  test.each([
    [{ disruption: 'EvictionByEvictionAPI' }, 'evicted', 'EvictionByEvictionAPI'],
    [{ disruption: 'DeletionByTaintManager' }, 'node_lost', 'DeletionByTaintManager'],
    [{ deletionTimestamp: new Date(0) }, 'pod_deleted', 'the pod was deleted'],
  ] as const)(
    'of a pod that ended well when it was asked to, with %j, is %s',
    (given, reason, message) => {
      expect(
        podFailure(
          pod({ phase: 'Succeeded', runner: endedWith('runner', 0, 'Completed'), ...given }),
        ),
      ).toEqual({ reason, message });
    },
  );

  test.each([
    { phase: 'Pending' },
    { phase: 'Running' },
    { phase: 'Unknown' },
    { phase: 'Succeeded' },
  ] as const)('there is none with %j', (given) => {
    expect(podFailure(pod(given))).toBeUndefined();
  });
});
