import type { PodState } from '@paddock/db/workers/worker-pods';
import { podSays } from '@paddock/domain/workers/nothing-runs';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { podFailure } from '@paddock/kube/pod-failure';
import { hideSecrets } from './hide-secrets.ts';

/**
 * The state of a worker, read from its pod. Succeeded and Failed count as an end only when no
 * container runs: a pod on a lost node may say Failed while its runner still works.
 */
export function podState(pod: ObservedPod): PodState {
  const failure = podFailure(pod);
  const phase = phaseOf(pod);
  return {
    podName: pod.name,
    podUid: pod.uid,
    podCreatedAt: pod.createdAt,
    node: pod.nodeName ?? null,
    phase,
    runningAt: pod.runningAt ?? null,
    endedAt: pod.endedAt ?? null,
    exitCode: pod.runner.exitCode ?? null,
    isRunnerOver: pod.runner.state === 'terminated' && !pod.containersTerminated,
    isUnschedulable: pod.phase === 'Pending' && pod.unschedulable !== undefined,
    terminatingAt: pod.deletionTimestamp ?? null,
    terminatingSeconds: pod.deletionGraceSeconds ?? null,
    stuckReason: phase === 'pending' ? (failure?.reason ?? null) : null,
    failureReason: pod.phase === 'Failed' ? (failure?.reason ?? null) : null,
    endedBy: phase === 'succeeded' ? (failure?.reason ?? null) : null,
    // The message may end with text that a container wrote.
    message: failure === undefined ? null : hideSecrets(failure.message),
  };
}

function phaseOf(pod: ObservedPod): PodState['phase'] {
  switch (pod.phase) {
    case 'Pending':
      return 'pending';
    case 'Running':
      return 'running';
    case 'Unknown':
    case 'Succeeded':
    case 'Failed':
      if (podSays(pod) === 'ended') return pod.phase === 'Succeeded' ? 'succeeded' : 'failed';
      return pod.runningAt === undefined ? 'pending' : 'running';
    default:
      return pod.phase satisfies never;
  }
}
