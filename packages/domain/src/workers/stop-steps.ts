import {
  type Evidence,
  isYetToStart,
  type KnownWorker,
  type PodSays,
  type ProofRules,
  whatRuns,
} from './may-end.ts';
import { isReturnable, isStartFailure } from './stop-reasons.ts';

export interface StoppingWorker extends KnownWorker {
  readonly hasEnded: boolean;
  readonly isStopping: boolean;
  readonly reason: string | null;
  /** How long it has been without a pod, or stopping without one, in ms; null with a pod. */
  readonly podlessForMs: number | null;
  /** We asked GitHub to register it, or may have. */
  readonly registrationBegun: boolean;
  readonly deregistration: 'none' | 'begun' | 'done';
  /** How long ago GitHub dropped its runner, in ms; null unless `deregistration` is `done`. */
  readonly deregisteredForMs: number | null;
}

/** The evidence that one attempt has read so far. Unread evidence is absent. */
export interface StopEvidence extends Pick<Evidence, 'runner' | 'log' | 'job'> {
  readonly worker: StoppingWorker;
  readonly pod?: PodSays;
  /** Its pod is being deleted. */
  readonly isGoing?: boolean;
}

export interface StopRules extends ProofRules {
  /** Time from the deregistration to the last look at the log. */
  readonly lastLookMs: number;
  /** Time until the next attempt if something is in the way. */
  readonly retryMs: number;
}

/** The next thing to read, or the next action. */
export type StopStep =
  | { readonly look: 'pod' | 'runner' | 'job' | 'log' }
  /** Leave the worker as it is. */
  | { readonly act: 'leave'; readonly why: string }
  /** Take the stop back. `assigned`: a job runs on it. */
  | { readonly act: 'keep'; readonly assigned: boolean; readonly why: string }
  | { readonly act: 'bind' | 'deregister' | 'delete_pod' | 'end' }
  /** Its pod has ended: the row ends as the follower of pods ends it, which may not see the pod. */
  | { readonly act: 'record' }
  /** `heldUp`: the cause may not pass by itself, so the row shows it. */
  | {
      readonly act: 'wait';
      readonly forMs: number;
      readonly why: string;
      readonly heldUp: boolean;
    };

/**
 * Ends a worker step by step. `whatRuns` has all proofs that no job runs; they come before the
 * deregistration, and once more before the pod is deleted:
 *
 * no job bound ─► nothing runs ─► deregister ─► wait ─► nothing runs ─► delete the pod
 *
 * Without a pod, the row ends once GitHub does not know the runner, or has called it offline for
 * long.
 */
export function nextStopStep(evidence: StopEvidence, rules: StopRules): StopStep {
  const { worker, pod } = evidence;
  if (worker.hasEnded) return { act: 'leave', why: 'it has ended' };
  if (!worker.isStopping) return { act: 'leave', why: 'it is no longer to be stopped' };
  if (!worker.hadPod && !worker.registrationBegun) return { act: 'end' };
  switch (pod) {
    case undefined:
      return { look: 'pod' };
    case 'ended':
      return { act: 'record' };
    case 'absent':
      return withoutPod(evidence, rules);
    case 'unplaced':
    case 'unstarted':
    case 'working':
    case 'over':
      return withPod(evidence, pod, rules);
    default:
      return pod satisfies never;
  }
}

function withoutPod(evidence: StopEvidence, rules: StopRules): StopStep {
  const open = unproven(evidence, 'absent', rules);
  if (open !== undefined) return open;
  const { worker, runner } = evidence;
  const mayBeGivenJobs = worker.deregistration !== 'done' && runner !== 'unknown';
  return { act: mayBeGivenJobs && isYetToStart(worker) ? 'deregister' : 'end' };
}

/** GitHub ends a job after 5 days, a pod's deadline after 7, even on a node without network. */
const LONGEST_LIFE_MS = 7 * 86_400_000;

/** A worker without a pod ends although GitHub does not answer: no runner lives this long. */
export function hasOutlived({ worker, pod }: StopEvidence): boolean {
  return pod === 'absent' && worker.podlessForMs !== null && worker.podlessForMs >= LONGEST_LIFE_MS;
}

function withPod(
  evidence: StopEvidence,
  pod: 'unplaced' | 'unstarted' | 'working' | 'over',
  rules: StopRules,
): StopStep {
  const { worker, isGoing = false } = evidence;
  const { deregistration, deregisteredForMs } = worker;
  const mayRun = pod === 'working' || pod === 'over';
  if (isGoing && mayRun) return heldUp(rules, GOING);
  if (deregistration === 'none' && !worker.isAssigned && !isGoing) {
    if (worker.reason === 'pod_gone')
      return { act: 'keep', assigned: false, why: 'its pod is there' };
    if (pod === 'working' && hadNotStarted(worker.reason))
      return { act: 'keep', assigned: false, why: 'its pod has started' };
  }
  const left = rules.lastLookMs - (deregisteredForMs ?? rules.lastLookMs);
  if (left > 0 && !worker.isAssigned && pod !== 'unplaced')
    return { act: 'wait', forMs: left, why: 'the last look at its log comes later', heldUp: false };
  const open = unproven(evidence, pod, rules);
  if (open !== undefined) return open;
  if (deregisteredForMs === null) return { act: 'deregister' };
  return isGoing ? heldUp(rules, GOING) : { act: 'delete_pod' };
}

const GOING =
  'its pod is being deleted, and is still there: its node may be away, or a finalizer holds it';

const hadNotStarted = (reason: string | null): boolean =>
  reason === 'pending_timeout' || isStartFailure(reason);

/** Undefined once it is proven that nothing runs on it. */
function unproven(
  { worker, ...seen }: StopEvidence,
  pod: Exclude<PodSays, 'ended'>,
  rules: StopRules,
): StopStep | undefined {
  const isDeregistered = worker.deregistration === 'done';
  const mayReturn = isReturnable(worker.reason) && worker.deregistration === 'none';
  const verdict = whatRuns({ ...worker, ...seen, pod, isDeregistered, mayReturn }, rules);
  if ('look' in verdict) return verdict;
  switch (verdict.runs) {
    case 'nothing':
      return undefined;
    case 'found':
      return { act: 'bind' };
    case 'job':
      return { act: 'keep', assigned: true, why: verdict.why };
    case 'open':
      return {
        act: 'wait',
        forMs: verdict.forMs ?? rules.retryMs,
        why: verdict.why,
        heldUp: verdict.forMs === undefined,
      };
    default:
      return verdict satisfies never;
  }
}

/** Its pod can be deleted although GitHub does not answer: no node has it, nothing has run. */
export const isUnplaced = ({ worker, pod, isGoing = false }: StopEvidence): boolean =>
  pod === 'unplaced' && !isGoing && !worker.isAssigned && !worker.wasOnline && !worker.hadJob;

/** Waits for a cause that may not pass by itself. */
const heldUp = ({ retryMs }: StopRules, why: string): StopStep => ({
  act: 'wait',
  forMs: retryMs,
  why,
  heldUp: true,
});
