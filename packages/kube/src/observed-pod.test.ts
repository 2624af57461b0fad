import { describe, expect, test } from '@jest/globals';
import { observePod } from './observed-pod.ts';

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
  test('a new pod is pending, with no instants but its creation', () => {
    expect(podWith({})).toEqual({
      name: 'p',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '9',
      phase: 'Pending',
      image: 'i',
      createdAt: new Date('2026-11-20T10:00:00Z'),
      runner: { name: 'runner', state: 'unknown' },
      containers: [],
      containersTerminated: false,
    });
  });

  test('a running pod shows its node and its earliest container start (A3)', () => {
    const containerStatuses = [running('runner', '2026-11-20T10:00:09Z'), running('dind')];
    const pod = podWith(
      { phase: 'Running', startTime: '2026-11-20T10:00:01Z', containerStatuses },
      { nodeName: 'n1' },
    );
    expect(pod).toMatchObject({
      phase: 'Running',
      nodeName: 'n1',
      runningAt: new Date(START),
      runner: { state: 'running' },
    });
    expect(pod.endedAt).toBeUndefined();
  });

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

  test('instants that a kubelet never learned are absent', () => {
    const pod = podWith({
      phase: 'Failed',
      containerStatuses: [ended('runner', 137, { startedAt: null, finishedAt: null })],
    });
    expect([pod.runningAt, pod.endedAt]).toEqual([undefined, undefined]);
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

  test('a pod under deletion shows when, and an unknown phase is pending', () => {
    const pod = podWith({ phase: 'Novel' }, {}, { deletionTimestamp: END });
    expect(pod).toMatchObject({ phase: 'Pending', deletionTimestamp: new Date(END) });
  });
});
