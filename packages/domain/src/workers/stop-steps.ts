import { isStartFailure } from './stop-reasons.ts';

/** What the row of a worker that is to be stopped says. */
export interface StoppingWorker {
  readonly hasEnded: boolean;
  readonly isStopping: boolean;
  readonly reason: string | null;
  /** A job is known to run on it. */
  readonly isAssigned: boolean;
  /** It was assigned; its job has ended, or is unknown and given up. */
  readonly hadJob: boolean;
  /** Its pod was seen once. */
  readonly hadPod: boolean;
  /** How long its pod has been gone or, if none was ever seen, it has been stopping, in milliseconds; null while its pod is there. */
  readonly podlessForMs: number | null;
  /** GitHub was asked to register it, or may have been. */
  readonly registrationBegun: boolean;
  readonly deregistration: 'none' | 'begun' | 'done';
  /** How long ago GitHub stopped knowing its runner, in milliseconds; null unless `deregistration` is done. */
  readonly deregisteredForMs: number | null;
  /** GitHub has called its runner online. */
  readonly wasOnline: boolean;
  /** For how long every reading of GitHub has called it not busy, in milliseconds; null without such a reading. */
  readonly idleForMs: number | null;
  /** For how long every reading has called it offline, in milliseconds; null if the last one did not. */
  readonly offlineForMs: number | null;
}

/**
 * What the cluster says of its pod. `unstarted`: the runner's container has not run, as far as its status says, which may be late; `over`: it
 * has ended while others still run; `terminating`: its deletion was asked for; `ended`: all containers have ended.
 */
export type StoppingPod = 'absent' | 'unstarted' | 'working' | 'over' | 'terminating' | 'ended';

export type StoppingRunner = 'unknown' | 'offline' | 'online' | 'busy';

/**
 * What the runner's own log shows: `job_over` is a job that has ended, and no other; `silent` is a whole log without the lines that a runner writes; `none`: its node says that the container
 * has not started; `unreadable` proves nothing.
 */
export type StoppingLog = 'job_begun' | 'job_over' | 'listening' | 'silent' | 'none' | 'unreadable';

/** What one attempt has seen up to now; what it has not looked at yet is absent. */
export interface StopEvidence {
  readonly worker: StoppingWorker;
  readonly pod?: StoppingPod;
  readonly runner?: StoppingRunner;
  /** Whether a pending job of its scope runs on it, as GitHub says; `too_many`: it cannot be asked for all. */
  readonly job?: 'none' | 'found' | 'too_many';
  readonly log?: StoppingLog;
}

export interface StopRules {
  /** Between two readings that call a runner idle there lie at least so many milliseconds. */
  readonly idleApartMs: number;
  /** From the deregistration to the last look at the log. */
  readonly lastLookMs: number;
  /** A runner without a pod is believed gone after GitHub has called it offline for so long. */
  readonly offlineMs: number;
  /** How long to wait before something that is in the way is looked at again. */
  readonly retryMs: number;
}

/** The next thing to look at, or what is to be done with what was seen. */
export type StopStep =
  | { readonly look: 'pod' | 'runner' | 'job' | 'log' }
  /** `why`: the worker stays as it is. */
  | { readonly act: 'leave'; readonly why: string }
  /** It is no longer to be stopped; `assigned`: something runs on it. */
  | { readonly act: 'keep'; readonly assigned: boolean; readonly why: string }
  | { readonly act: 'bind' | 'deregister' | 'delete_pod' | 'end' }
  /** `heldUp`: nothing that passes by itself; shown in the row. */
  | { readonly act: 'wait'; readonly forMs: number; readonly why: string; readonly heldUp: boolean };

/**
 * How a worker is ended (E5, A3), one step at a time. All proofs that nothing runs on it come before the runner is deregistered, and the
 * last two come again before its pod is deleted:
 *
 *   no job bound ─► idle, twice ─► no job found on it ─► its log shows none ─► deregister ─► wait ─► job, log again ─► delete the pod
 *
 * A pod that is gone ends the row once GitHub does not know the runner, or has called it offline for long.
 */
export function nextStopStep(evidence: StopEvidence, rules: StopRules): StopStep {
  const { worker, pod } = evidence;
  if (worker.hasEnded) return { act: 'leave', why: 'it has ended' };
  if (!worker.isStopping) return { act: 'leave', why: 'it is not to be stopped any more' };
  if (!worker.hadPod && !worker.registrationBegun) return { act: 'end' };
  switch (pod) {
    case undefined:
      return { look: 'pod' };
    case 'ended':
      return { act: 'wait', forMs: rules.retryMs, why: 'its pod has ended; whoever follows pods ends the row', heldUp: false };
    case 'terminating':
      return heldUp(rules, 'its pod is being deleted');
    case 'absent':
      return withoutPod(evidence, rules);
    case 'unstarted':
    case 'working':
    case 'over':
      return withPod(evidence, pod, rules);
    default:
      return pod satisfies never;
  }
}

function withoutPod(evidence: StopEvidence, rules: StopRules): StopStep {
  const { worker, runner } = evidence;
  if (worker.deregistration === 'done') return { act: 'end' };
  if (runner === undefined) return { look: 'runner' };
  if (runner === 'unknown') return { act: 'end' };
  // Its pod was never seen, so it may be made this very moment: the registration goes first, or nobody could tell what runs.
  if (!worker.hadPod && !worker.isAssigned && !worker.hadJob) return provenIdle(evidence, rules) ?? { act: 'deregister' };
  if (worker.offlineForMs !== null) {
    const left = rules.offlineMs - worker.offlineForMs;
    return left <= 0
      ? { act: 'end' }
      : { act: 'wait', forMs: left, why: 'its pod is gone, and GitHub calls the runner offline', heldUp: false };
  }
  return heldUp(rules, `its pod is gone, but GitHub calls the runner ${runner}`);
}

/** GitHub ends a job on a self-hosted runner after 5 days, and a pod's own deadline its runner after 7, on a node that is cut off too. */
const LONGEST_LIFE_MS = 7 * 86_400_000;

/** Whether a worker without a pod ends although GitHub refuses to say what it knows of its runner: no runner lives as long. */
export function hasOutlived({ worker, pod }: StopEvidence): boolean {
  return pod === 'absent' && worker.podlessForMs !== null && worker.podlessForMs >= LONGEST_LIFE_MS;
}

function withPod(evidence: StopEvidence, pod: 'unstarted' | 'working' | 'over', rules: StopRules): StopStep {
  const { worker } = evidence;
  if (worker.isAssigned) return { act: 'keep', assigned: true, why: 'a job runs on it' };
  if (worker.deregistration === 'none') {
    if (worker.reason === 'pod_gone') return { act: 'keep', assigned: false, why: 'its pod is there' };
    if (pod === 'working' && hadNotStarted(worker.reason)) return { act: 'keep', assigned: false, why: 'its pod has started' };
  }
  const idle = worker.deregistration === 'done' ? undefined : provenIdle(evidence, rules);
  if (idle !== undefined) return idle;
  if (evidence.job === undefined) return { look: 'job' };
  if (evidence.job === 'found') return { act: 'bind' };
  if (evidence.job === 'too_many') return heldUp(rules, 'more runs wait for its like than can be looked through');
  const silent = needsLog(pod, evidence) ? provenByLog(evidence, rules) : undefined;
  if (silent !== undefined) return silent;
  if (worker.deregisteredForMs === null) return { act: 'deregister' };
  const left = rules.lastLookMs - worker.deregisteredForMs;
  return left > 0 ? { act: 'wait', forMs: left, why: 'the last look at its log comes later', heldUp: false } : { act: 'delete_pod' };
}

const hadNotStarted = (reason: string | null): boolean => reason === 'pending_timeout' || isStartFailure(reason);

/** Undefined once GitHub has called the runner idle twice, some time apart, or does not know it. */
function provenIdle({ worker, runner }: StopEvidence, { idleApartMs }: StopRules): StopStep | undefined {
  if (runner === undefined) return { look: 'runner' };
  if (runner === 'busy') return { act: 'keep', assigned: true, why: 'GitHub calls its runner busy' };
  if (runner === 'unknown') return undefined;
  const left = idleApartMs - (worker.idleForMs ?? 0);
  return left > 0
    ? { act: 'wait', forMs: left, why: 'GitHub is asked a second time whether its runner is idle', heldUp: false }
    : undefined;
}

/**
 * The status of a pod may be late. A runner that GitHub has called online, or given a job, has started, even if the status does not say so.
 * One that GitHub does not know may have left after its job, and one that was deregistered may have taken a job right before.
 */
function needsLog(pod: 'unstarted' | 'working' | 'over', { worker, runner }: StopEvidence): boolean {
  if (pod === 'working') return true;
  return pod === 'unstarted' && (hasBegun(worker) || runner === 'unknown' || worker.deregistration === 'done');
}

const hasBegun = ({ wasOnline, hadJob }: StoppingWorker): boolean => wasOnline || hadJob;

/** Undefined once the log shows that no job runs. */
function provenByLog({ worker, pod, runner, log }: StopEvidence, rules: StopRules): StopStep | undefined {
  const begun = hasBegun(worker);
  const neverBegan = pod === 'unstarted' && !begun;
  switch (log) {
    case undefined:
      return { look: 'log' };
    case 'job_begun':
      return worker.hadJob && runner === 'unknown'
        ? heldUp(rules, 'GitHub does not know its runner any more, but its log does not show the end of its job')
        : { act: 'keep', assigned: true, why: 'its log shows a job' };
    case 'job_over':
      return worker.hadJob ? undefined : { act: 'keep', assigned: true, why: 'its log shows a job' };
    case 'unreadable':
      return heldUp(rules, 'its log cannot be read, so it is not known whether a job runs');
    case 'silent':
      // A runner that has listened has said so; if that line is gone, others may be too.
      if (neverBegan || (!begun && (runner === 'offline' || worker.deregistration === 'done'))) return undefined;
      return heldUp(rules, 'its log does not show its beginning, so it is not known whether a job runs');
    case 'none':
      if (neverBegan) return undefined;
      return heldUp(rules, 'it has run, but its node says that it has not: it is not known whether a job runs');
    case 'listening':
      return undefined;
    default:
      return log satisfies never;
  }
}

/** Nothing that the next look is sure to find gone. */
const heldUp = ({ retryMs }: StopRules, why: string): StopStep => ({ act: 'wait', forMs: retryMs, why, heldUp: true });
