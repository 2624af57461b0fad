import type { ObservedContainer, ObservedPod } from './observed-pod.ts';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';

/** Why a runner's pod failed or cannot start. A closed set: metrics use it as a label. */
export type PodFailureReason =
  | 'image_pull'
  | 'container_config'
  | 'crash_loop'
  | 'unschedulable'
  | 'evicted'
  | 'node_lost'
  | 'pod_deleted'
  | 'node_refused'
  | 'deadline'
  | 'out_of_memory'
  | 'outdated_runner'
  | 'exit_code'
  | 'unknown';

export interface PodFailure {
  readonly reason: PodFailureReason;
  /** For people: Kubernetes' own words, if it has any. */
  readonly message: string;
}

/** Words of the kubelet for a container that does not start or has ended. */
const CONTAINER_REASONS: readonly [RegExp, PodFailureReason][] = [
  [/Image|^RegistryUnavailable$|^SignatureValidationFailed$/, 'image_pull'],
  [/(?:Config|Container|Start|Hook|Sandbox)Error$|^ContainerCannotRun$/, 'container_config'],
  [/^CrashLoopBackOff$/, 'crash_loop'],
  // The kubelet no longer finds the container, as after its node's restart.
  [/^ContainerStatusUnknown$/, 'node_lost'],
  [/^DeadlineExceeded$/, 'deadline'],
];

/** The kubelet's reasons for the end of a pod that it had taken. */
const POD_REASONS: ReadonlyMap<string, PodFailureReason> = new Map([
  ['DeadlineExceeded', 'deadline'],
  ['Evicted', 'evicted'],
  ['Preempting', 'evicted'],
  ['NodeLost', 'node_lost'],
  ['NodeShutdown', 'node_lost'],
  ['Shutdown', 'node_lost'],
  ['Terminated', 'node_lost'],
]);

/** Reasons of the condition DisruptionTarget for a lost node. All other reasons are evictions. */
const NODE_GONE = new Set(['DeletionByTaintManager', 'DeletionByPodGC']);

/**
 * The exit code of a runner whose version GitHub no longer serves. Our pods' environment enables
 * it.
 */
const OUTDATED_EXIT_CODE = 7;

/** Whether it ended by SIGTERM or SIGKILL, and nothing else says why. */
const isEndedBySignal = (container: ObservedContainer | undefined): boolean =>
  container !== undefined &&
  [143, 137].includes(container.exitCode ?? 0) &&
  reasonOfExit(container) === 'exit_code';

/**
 * Why a pod failed, was ended, or cannot start; undefined if none of these. Reads the status'
 * reasons and exit codes, never messages. A deletion or eviction decides first: the runner may exit
 * with 0.
 */
export function podFailure(pod: ObservedPod): PodFailure | undefined {
  const { phase, podReason, podMessage, waitingReason, waitingMessage, unschedulable } = pod;
  switch (phase) {
    case 'Succeeded':
      return endedByOthers(pod);
    // A broken sidecar does not keep the runner from working.
    case 'Running':
      return undefined;
    case 'Pending':
    case 'Unknown':
      if (waitingReason !== undefined)
        return {
          reason: reasonOfContainer(waitingReason) ?? 'unknown',
          message: said(waitingReason, waitingMessage),
        };
      return unschedulable === undefined
        ? undefined
        : { reason: 'unschedulable', message: unschedulable };
    case 'Failed': {
      if (podReason !== undefined)
        return { reason: reasonOfPod(podReason), message: said(podReason, podMessage) };
      const failed = failedContainer(pod);
      const others = endedByOthers(pod, failed && exitOf(failed));
      if (others !== undefined && (pod.disruption !== undefined || isEndedBySignal(failed)))
        return others;
      return failed === undefined
        ? { reason: 'unknown', message: 'the pod failed' }
        : { reason: reasonOfExit(failed), message: exitOf(failed) };
    }
    default:
      return phase satisfies never;
  }
}

/** Pods are deleted soon after their end. A deletion before the end explains the end. */
function endedByOthers(
  { disruption, deletionTimestamp }: ObservedPod,
  exit?: string,
): PodFailure | undefined {
  if (disruption !== undefined)
    return {
      reason: NODE_GONE.has(disruption) ? 'node_lost' : 'evicted',
      message: said(disruption, exit),
    };
  return deletionTimestamp === undefined
    ? undefined
    : { reason: 'pod_deleted', message: said('the pod was deleted', exit) };
}

/** The container that made the pod fail: the runner's if it failed, else the first that failed. */
const failedContainer = ({
  runner,
  containers,
}: Pick<ObservedPod, 'runner' | 'containers'>): ObservedContainer | undefined =>
  [runner, ...containers].find(({ exitCode }) => exitCode !== undefined && exitCode !== 0);

/** With any other reason, such as OutOfcpu, the kubelet refused a pod that was placed on its node. */
const reasonOfPod = (reason: string): PodFailureReason => POD_REASONS.get(reason) ?? 'node_refused';

const reasonOfContainer = (word: string): PodFailureReason | undefined =>
  CONTAINER_REASONS.find(([words]) => words.test(word))?.[1];

function reasonOfExit({ name, exitCode, reason = '' }: ObservedContainer): PodFailureReason {
  if (reason === 'OOMKilled') return 'out_of_memory';
  if (name === RUNNER_CONTAINER && exitCode === OUTDATED_EXIT_CODE) return 'outdated_runner';
  return reasonOfContainer(reason) ?? 'exit_code';
}

function exitOf({ name, exitCode, reason, message }: ObservedContainer): string {
  const words = [reason, message].filter((part) => part !== undefined && part !== '').join(': ');
  return `container ${name} ended with exit code ${exitCode}${words === '' ? '' : ` (${words})`}`;
}

const said = (reason: string, message: string | undefined): string =>
  message === undefined ? reason : `${reason}: ${message}`;
