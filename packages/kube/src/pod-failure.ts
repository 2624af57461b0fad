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

const CONTAINER_REASONS: readonly [PodFailureReason, ReadonlySet<string>][] = [
  [
    'image_pull',
    new Set([
      'ErrImagePull',
      'ImagePullBackOff',
      'InvalidImageName',
      'ErrImageNeverPull',
      'ImageInspectError',
      'RegistryUnavailable',
      'SignatureValidationFailed',
    ]),
  ],
  [
    'container_config',
    new Set([
      'CreateContainerConfigError',
      'CreateContainerError',
      'RunContainerError',
      'ContainerCannotRun',
      'StartError',
      'PreCreateHookError',
      'PreStartHookError',
      'PostStartHookError',
      'RunInitContainerError',
      'ConfigPodSandboxError',
      'CreatePodSandboxError',
    ]),
  ],
  ['crash_loop', new Set(['CrashLoopBackOff'])],
  // The kubelet no longer finds the container, as after its node's restart.
  ['node_lost', new Set(['ContainerStatusUnknown'])],
  ['deadline', new Set(['DeadlineExceeded'])],
];

const EVICTED = new Set(['Evicted', 'Preempting']);
const NODE_LOST = new Set(['NodeLost', 'NodeShutdown', 'Shutdown', 'Terminated']);
/**
 * The kubelet refused a pod that the Kubernetes scheduler placed. `NODE_FULL`: OutOfcpu and the
 * like.
 */
const NODE_REFUSED = new Set([
  'UnexpectedAdmissionError',
  'NodeAffinity',
  'NodeName',
  'MatchNodeSelector',
  'TopologyAffinityError',
  'SysctlForbidden',
  'AppArmor',
  'PodOSNotSupported',
  'PodOSSelectorNodeLabelDoesNotMatch',
]);
const NODE_FULL = /^OutOf\w/;

/** Reasons of the condition DisruptionTarget for a lost node. All other reasons are evictions. */
const NODE_GONE = new Set(['DeletionByTaintManager', 'DeletionByPodGC']);

/**
 * The exit code of a runner whose version GitHub no longer serves. Our pods' environment enables
 * it.
 */
const OUTDATED_EXIT_CODE = 7;

/** Exit codes after SIGTERM and SIGKILL. */
const ENDED_BY_SIGNAL = new Set([143, 137]);

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
      const exit = failed === undefined ? undefined : exitOf(failed);
      const others = endedByOthers(pod, exit);
      if (pod.disruption !== undefined && others !== undefined) return others;
      if (failed === undefined || exit === undefined)
        return { reason: 'unknown', message: 'the pod failed' };
      const reason = reasonOfExit(failed);
      return reason === 'exit_code' &&
        ENDED_BY_SIGNAL.has(failed.exitCode ?? 0) &&
        others !== undefined
        ? others
        : { reason, message: exit };
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

function reasonOfPod(reason: string): PodFailureReason {
  if (reason === 'DeadlineExceeded') return 'deadline';
  if (EVICTED.has(reason)) return 'evicted';
  if (NODE_LOST.has(reason)) return 'node_lost';
  return NODE_REFUSED.has(reason) || NODE_FULL.test(reason) ? 'node_refused' : 'unknown';
}

const reasonOfContainer = (reason: string): PodFailureReason | undefined =>
  CONTAINER_REASONS.find(([, reasons]) => reasons.has(reason))?.[0];

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
