import { describe, expect, test } from '@jest/globals';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { podState } from './pod-state.ts';

const pod = (given: Partial<ObservedPod>): ObservedPod => ({
  name: 'pdk-abc123-linux-0123456789ab',
  namespace: 'runners',
  uid: 'uid',
  resourceVersion: '1',
  phase: 'Pending',
  createdAt: new Date('2026-01-01T00:00:00Z'),
  runner: { name: 'runner', state: 'unknown' },
  containers: [],
  containersTerminated: false,
  conditions: [],
  ...given,
});

const ran = { runningAt: new Date('2026-01-01T00:01:00Z') };

describe('podState', () => {
  test.each([
    ['Pending', {}, 'pending'],
    ['Running', ran, 'running'],
    ['Unknown', {}, 'pending'],
    ['Unknown', ran, 'running'],
    ['Succeeded', { ...ran, containersTerminated: true }, 'succeeded'],
    ['Succeeded', ran, 'running'],
    ['Failed', { ...ran, containersTerminated: true }, 'failed'],
    ['Failed', { containersTerminated: true }, 'failed'],
    ['Failed', ran, 'running'],
    ['Failed', {}, 'pending'],
  ] as const)(
    '%s with %j is %s: only an end with all containers terminated ends a worker (A3)',
    (phase, given, expected) => {
      expect(podState(pod({ phase, ...given })).phase).toBe(expected);
    },
  );

  test('takes node, uid, instants and the runner’s exit code from the pod (C8)', () => {
    const endedAt = new Date('2026-01-01T00:02:00Z');
    const runner = { name: 'runner', state: 'terminated', exitCode: 0 } as const;
    const state = podState(
      pod({
        phase: 'Succeeded',
        containersTerminated: true,
        ...ran,
        endedAt,
        nodeName: 'n1',
        runner,
        containers: [runner],
      }),
    );
    expect(state).toEqual({
      isUnschedulable: false,
      podName: 'pdk-abc123-linux-0123456789ab',
      podUid: 'uid',
      podCreatedAt: new Date('2026-01-01T00:00:00Z'),
      node: 'n1',
      phase: 'succeeded',
      runningAt: ran.runningAt,
      endedAt,
      exitCode: 0,
      isRunnerOver: false,
      terminatingAt: null,
      terminatingSeconds: null,
      stuckReason: null,
      failureReason: null,
      endedBy: null,
      message: null,
    });
  });

  test('gives the reason why a pod failed or does not start (P5)', () => {
    const evicted = { podReason: 'Evicted', podMessage: 'low on memory' };
    const told = { failureReason: 'evicted', message: 'Evicted: low on memory' };
    expect(
      podState(pod({ phase: 'Failed', containersTerminated: true, ...evicted })),
    ).toMatchObject(told);
    const stuck = { failureReason: null, stuckReason: 'image_pull', message: 'ImagePullBackOff' };
    expect(podState(pod({ phase: 'Pending', waitingReason: 'ImagePullBackOff' }))).toMatchObject(
      stuck,
    );
    expect(
      podState(pod({ phase: 'Running', ...ran, waitingReason: 'CrashLoopBackOff' })),
    ).toMatchObject({
      stuckReason: null,
      message: null,
    });
  });
});
