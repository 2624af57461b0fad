import { describe, expect, test } from '@jest/globals';
import { examplePod } from '../scenes/settings.scene.ts';
import { podState } from './record-pods.ts';

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
      expect(podState(examplePod({ phase, ...given })).phase).toBe(expected);
    },
  );

  test('takes node, uid, instants and the runner’s exit code from the pod (C8)', () => {
    const endedAt = new Date('2026-01-01T00:02:00Z');
    const runner = { name: 'runner', state: 'terminated', exitCode: 0 } as const;
    const ended = { phase: 'Succeeded', containersTerminated: true, endedAt, runner } as const;
    expect(
      podState(examplePod({ ...ran, ...ended, nodeName: 'n1', containers: [runner] })),
    ).toEqual({
      podName: 'pdk-abc123-linux-0123456789ab',
      podUid: 'uid',
      podCreatedAt: new Date('2026-01-01T00:00:00Z'),
      node: 'n1',
      phase: 'succeeded',
      runningAt: ran.runningAt,
      endedAt,
      exitCode: 0,
      isRunnerOver: false,
      isUnschedulable: false,
      terminatingAt: null,
      terminatingSeconds: null,
      stuckReason: null,
      failureReason: null,
      endedBy: null,
      message: null,
    });
  });

  const told = { failureReason: null, stuckReason: null, message: null };
  test.each([
    [
      { phase: 'Failed', containersTerminated: true, podReason: 'Evicted', podMessage: 'm' },
      { ...told, failureReason: 'evicted', message: 'Evicted: m' },
    ],
    [
      { phase: 'Pending', waitingReason: 'ImagePullBackOff' },
      { ...told, stuckReason: 'image_pull', message: 'ImagePullBackOff' },
    ],
    [{ phase: 'Running', ...ran, waitingReason: 'CrashLoopBackOff' }, told],
  ] as const)('gives the reason why a pod failed or does not start: %j (P5)', (given, reasons) => {
    expect(podState(examplePod(given))).toMatchObject(reasons);
  });
});
