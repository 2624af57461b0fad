import type { ObservedContainer, ObservedPod } from './observed-pod.ts';
import { RUNNER_CONTAINER } from './runner-pod.ts';

/** Why a runner's pod failed or cannot start; a closed set, for it becomes a label and a column. */
export type PodFailureReason =
  | 'image_pull'
  | 'container_config'
  | 'unschedulable'
  | 'evicted'
  | 'node_lost'
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

const IMAGE = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
]);
const CONFIG = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError', 'ContainerCannotRun', 'StartError']);
const EVICTED = new Set(['Evicted', 'Preempting', 'TerminationByKubelet']);
const NODE = new Set(['NodeLost', 'NodeShutdown', 'Shutdown', 'Terminated', 'NodeAffinity', 'UnexpectedAdmissionError']);

/** What the runner ends with when GitHub serves its version no more, where the environment asks for that (our pods' does). */
const OUTDATED_EXIT_CODE = 7;

/** What keeps a pod from working, or undefined while nothing does: by the reasons of its status and by exit codes, never by messages. */
export function podFailure(pod: ObservedPod): PodFailure | undefined {
  const { phase, podReason, podMessage, waitingReason, waitingMessage, unschedulable } = pod;
  if (phase === 'Pending' || phase === 'Unknown' || phase === 'Running') {
    if (waitingReason !== undefined)
      return { reason: reasonOfContainer(waitingReason) ?? 'unknown', message: said(waitingReason, waitingMessage) };
    return unschedulable === undefined ? undefined : { reason: 'unschedulable', message: unschedulable };
  }
  if (phase === 'Succeeded') return undefined;
  if (podReason !== undefined) return { reason: reasonOfPod(podReason), message: said(podReason, podMessage) };
  const guilty = guiltyContainer(pod);
  return guilty === undefined
    ? { reason: 'unknown', message: 'the pod failed' }
    : { reason: reasonOfExit(guilty), message: exitOf(guilty) };
}

/** The container that made the pod fail: the runner's if it did, else the first that ended badly. */
const guiltyContainer = ({ runner, containers }: Pick<ObservedPod, 'runner' | 'containers'>): ObservedContainer | undefined =>
  [runner, ...containers].find(({ exitCode }) => exitCode !== undefined && exitCode !== 0);

function reasonOfPod(reason: string): PodFailureReason {
  if (reason === 'DeadlineExceeded') return 'deadline';
  if (EVICTED.has(reason)) return 'evicted';
  return NODE.has(reason) ? 'node_lost' : 'unknown';
}

function reasonOfContainer(reason: string): PodFailureReason | undefined {
  if (IMAGE.has(reason)) return 'image_pull';
  return CONFIG.has(reason) ? 'container_config' : undefined;
}

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
