import type { ObservedContainer, ObservedPod } from './observed-pod.ts';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';

/** Why a runner's pod failed or cannot start; a closed set, for it becomes a label and a column. */
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
  /** For people: what Kubernetes says, in its own words where it has some. */
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
  // The kubelet found nothing of the container any more, as after its node's restart.
  ['node_lost', new Set(['ContainerStatusUnknown'])],
  ['deadline', new Set(['DeadlineExceeded'])],
];

const EVICTED = new Set(['Evicted', 'Preempting']);
const NODE_LOST = new Set(['NodeLost', 'NodeShutdown', 'Shutdown', 'Terminated']);
/** A kubelet did not take what the scheduler gave it; of each resource it has a reason of its own, such as OutOfcpu. */
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

/** Reasons of the condition DisruptionTarget that tell of a lost node; all others are somebody's wish to have the pod's place. */
const NODE_GONE = new Set(['DeletionByTaintManager', 'DeletionByPodGC']);

/** What the runner ends with when GitHub serves its version no more, where the environment asks for that (our pods' does). */
const OUTDATED_EXIT_CODE = 7;

/** What processes end with that were asked to end, and those that did not heed it. */
const ENDED_BY_SIGNAL = new Set([143, 137]);

/**
 * Why a pod failed or was ended, or what keeps one from starting; undefined where none of these: by the reasons of its status and by exit
 * codes, never by messages. Who ended it speaks first: a runner that is asked to end does so well.
 */
export function podFailure(pod: ObservedPod): PodFailure | undefined {
  const { phase, podReason, podMessage, waitingReason, waitingMessage, unschedulable } = pod;
  switch (phase) {
    case 'Succeeded':
      return endedByOthers(pod);
    // A sidecar that cannot go on does not keep the runner from working.
    case 'Running':
      return undefined;
    case 'Pending':
    case 'Unknown':
      if (waitingReason !== undefined)
        return { reason: reasonOfContainer(waitingReason) ?? 'unknown', message: said(waitingReason, waitingMessage) };
      return unschedulable === undefined ? undefined : { reason: 'unschedulable', message: unschedulable };
    case 'Failed': {
      if (podReason !== undefined) return { reason: reasonOfPod(podReason), message: said(podReason, podMessage) };
      const guilty = guiltyContainer(pod);
      const exit = guilty === undefined ? undefined : exitOf(guilty);
      const others = endedByOthers(pod, exit);
      if (pod.disruption !== undefined && others !== undefined) return others;
      if (guilty === undefined || exit === undefined) return { reason: 'unknown', message: 'the pod failed' };
      const reason = reasonOfExit(guilty);
      return reason === 'exit_code' && ENDED_BY_SIGNAL.has(guilty.exitCode ?? 0) && others !== undefined
        ? others
        : { reason, message: exit };
    }
    default:
      return phase satisfies never;
  }
}

/** A pod that has ended is deleted at once: one that ended with its deletion under way was deleted before. */
function endedByOthers({ disruption, deletionTimestamp }: ObservedPod, exit?: string): PodFailure | undefined {
  if (disruption !== undefined) return { reason: NODE_GONE.has(disruption) ? 'node_lost' : 'evicted', message: said(disruption, exit) };
  return deletionTimestamp === undefined ? undefined : { reason: 'pod_deleted', message: said('the pod was deleted', exit) };
}

/** The container that made the pod fail: the runner's if it did, else the first that ended badly. */
const guiltyContainer = ({ runner, containers }: Pick<ObservedPod, 'runner' | 'containers'>): ObservedContainer | undefined =>
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

const said = (reason: string, message: string | undefined): string => (message === undefined ? reason : `${reason}: ${message}`);
