import { describe, expect, test } from '@jest/globals';
import type { ObservedContainer, ObservedPod } from './observed-pod.ts';
import { podFailure } from './pod-failure.ts';

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
const ended = (name: string, exitCode: number, reason?: string): ObservedContainer => ({
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
      { disruption: 'EvictionByEvictionAPI', runner: ended('runner', 143, 'Error') },
      'evicted',
      'EvictionByEvictionAPI: container runner ended with exit code 143 (Error)',
    ],
    [{ disruption: 'PreemptionByScheduler' }, 'evicted', 'PreemptionByScheduler'],
    [
      { deletionTimestamp: new Date(0), runner: ended('runner', 143, 'Error') },
      'pod_deleted',
      'the pod was deleted: container runner ended with exit code 143 (Error)',
    ],
    [
      { deletionTimestamp: new Date(0), runner: ended('runner', 1, 'Error') },
      'exit_code',
      'container runner ended with exit code 1 (Error)',
    ],
    [
      { deletionTimestamp: new Date(0), runner: ended('runner', 137, 'OOMKilled') },
      'out_of_memory',
      'container runner ended with exit code 137 (OOMKilled)',
    ],
    [{ disruption: 'DeletionByPodGC' }, 'node_lost', 'DeletionByPodGC'],
    [{ disruption: 'DeletionByTaintManager' }, 'node_lost', 'DeletionByTaintManager'],
    [
      { runner: ended('runner', 137, 'ContainerStatusUnknown') },
      'node_lost',
      'container runner ended with exit code 137 (ContainerStatusUnknown)',
    ],
    [
      { containers: [ended('init-dind-externals', 1, 'Error')] },
      'exit_code',
      'container init-dind-externals ended with exit code 1 (Error)',
    ],
    [
      { runner: ended('runner', 127, 'ContainerCannotRun') },
      'container_config',
      'container runner ended with exit code 127 (ContainerCannotRun)',
    ],
    [
      { runner: ended('runner', 137, 'OOMKilled') },
      'out_of_memory',
      'container runner ended with exit code 137 (OOMKilled)',
    ],
    [
      { runner: ended('runner', 7, 'Error') },
      'outdated_runner',
      'container runner ended with exit code 7 (Error)',
    ],
    [{ containers: [ended('dind', 7)] }, 'exit_code', 'container dind ended with exit code 7'],
    [
      { runner: ended('runner', 128, 'StartError') },
      'container_config',
      'container runner ended with exit code 128 (StartError)',
    ],
    [
      { runner: ended('runner', 2), containers: [ended('dind', 1)] },
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
        podFailure(pod({ phase: 'Succeeded', runner: ended('runner', 0, 'Completed'), ...given })),
      ).toEqual({ reason, message });
    },
  );

  test('a sidecar that does not come up keeps no runner from working', () => {
    expect(
      podFailure(pod({ phase: 'Running', waitingReason: 'CrashLoopBackOff' })),
    ).toBeUndefined();
  });

  test.each([
    { phase: 'Pending' },
    { phase: 'Running' },
    { phase: 'Unknown' },
    { phase: 'Succeeded' },
  ] as const)('there is none with %j', (given) => {
    expect(podFailure(pod(given))).toBeUndefined();
  });
});
