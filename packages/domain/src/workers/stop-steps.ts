import { isStartFailure } from './stop-reasons.ts';

/** The row of a worker that must stop. */
export interface StoppingWorker {
  readonly hasEnded: boolean;
  readonly isStopping: boolean;
  readonly reason: string | null;
  /** A job is known to run on it. */
  readonly isAssigned: boolean;
  /** It was assigned, and its job has ended or was given up. */
  readonly hadJob: boolean;
  /** Its pod was seen at least once. */
  readonly hadPod: boolean;
  /**
   * How long its pod has been gone, or how long it has been stopping without one, in ms; null with
   * a pod.
   */
  readonly podlessForMs: number | null;
  /** We asked GitHub to register it, or may have. */
  readonly registrationBegun: boolean;
  readonly deregistration: 'none' | 'begun' | 'done';
  /**
   * How long ago GitHub dropped its runner, in milliseconds; null unless `deregistration` is
   * `done`.
   */
  readonly deregisteredForMs: number | null;
  /** GitHub has called its runner online. */
  readonly wasOnline: boolean;
  /** How long all readings of GitHub have called it not busy, in milliseconds; null without one. */
  readonly idleForMs: number | null;
  /**
   * How long all readings have called it offline, in milliseconds; null if the last one did not.
   */
  readonly offlineForMs: number | null;
}

/**
 * The state of its pod. `unstarted`: by its status, which may be late, the runner's container has
 * not run. `over`: the runner's container has ended, but others run. `terminating`: the pod is
 * being deleted. `ended`: all containers have ended.
 */
export type StoppingPod = 'absent' | 'unstarted' | 'working' | 'over' | 'terminating' | 'ended';

export type StoppingRunner = 'unknown' | 'offline' | 'online' | 'busy';

/**
 * What the runner's log shows. `job_over`: its last job has ended. `silent`: the whole log, but
 * without a runner's lines. `none`: its node says that the container has not started. `unreadable`
 * proves nothing.
 */
export type StoppingLog = 'job_begun' | 'job_over' | 'listening' | 'silent' | 'none' | 'unreadable';

/** The evidence that one attempt has read so far. Unread evidence is absent. */
export interface StopEvidence {
  readonly worker: StoppingWorker;
  readonly pod?: StoppingPod;
  readonly runner?: StoppingRunner;
  /**
   * Whether GitHub says that a job of its scope runs on it. `too_many`: too many to ask for all.
   */
  readonly job?: 'none' | 'found' | 'too_many';
  readonly log?: StoppingLog;
}

export interface StopRules {
  /** Least time between two readings that prove a runner idle. */
  readonly idleApartMs: number;
  /** Time from the deregistration to the last look at the log. */
  readonly lastLookMs: number;
  /** How long GitHub must call a runner without a pod offline, until it counts as gone. */
  readonly offlineMs: number;
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
  /** `heldUp`: the cause may not pass by itself, so the row shows it. */
  | {
      readonly act: 'wait';
      readonly forMs: number;
      readonly why: string;
      readonly heldUp: boolean;
    };

/**
 * Ends a worker step by step. All proofs that no job runs come before the deregistration. The last
 * two are repeated before the pod is deleted:
 *
 * no job bound ─► idle, twice ─► no job found on it ─► its log shows none
 *   ─► deregister ─► wait ─► job, log again ─► delete the pod
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
      return {
        act: 'wait',
        forMs: rules.retryMs,
        why: 'its pod has ended; the follower of pods ends the row',
        heldUp: false,
      };
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
  // Its pod was never seen, so it may be made at this moment. Deregister first: then it gets no
  // job.
  if (!worker.hadPod && !worker.isAssigned && !worker.hadJob)
    return provenIdle(evidence, rules) ?? { act: 'deregister' };
  if (worker.offlineForMs !== null) {
    const left = rules.offlineMs - worker.offlineForMs;
    return left <= 0
      ? { act: 'end' }
      : {
          act: 'wait',
          forMs: left,
          why: 'its pod is gone, and GitHub calls the runner offline',
          heldUp: false,
        };
  }
  return heldUp(rules, `its pod is gone, but GitHub calls the runner ${runner}`);
}

/**
 * GitHub ends a job after 5 days, and a pod's deadline ends it after 7, even on a node without
 * network.
 */
const LONGEST_LIFE_MS = 7 * 86_400_000;

/**
 * Whether a worker without a pod ends although GitHub refuses to answer: no runner lives this long.
 */
export function hasOutlived({ worker, pod }: StopEvidence): boolean {
  return pod === 'absent' && worker.podlessForMs !== null && worker.podlessForMs >= LONGEST_LIFE_MS;
}

function withPod(
  evidence: StopEvidence,
  pod: 'unstarted' | 'working' | 'over',
  rules: StopRules,
): StopStep {
  const { worker } = evidence;
  if (worker.isAssigned) return { act: 'keep', assigned: true, why: 'a job runs on it' };
  if (worker.deregistration === 'none') {
    if (worker.reason === 'pod_gone')
      return { act: 'keep', assigned: false, why: 'its pod is there' };
    if (pod === 'working' && hadNotStarted(worker.reason))
      return { act: 'keep', assigned: false, why: 'its pod has started' };
  }
  const idle = worker.deregistration === 'done' ? undefined : provenIdle(evidence, rules);
  if (idle !== undefined) return idle;
  if (evidence.job === undefined) return { look: 'job' };
  if (evidence.job === 'found') return { act: 'bind' };
  if (evidence.job === 'too_many')
    return heldUp(rules, 'more runs wait for its like than can be looked through');
  const silent = needsLog(pod, evidence) ? provenByLog(evidence, rules) : undefined;
  if (silent !== undefined) return silent;
  if (worker.deregisteredForMs === null) return { act: 'deregister' };
  const left = rules.lastLookMs - worker.deregisteredForMs;
  return left > 0
    ? { act: 'wait', forMs: left, why: 'the last look at its log comes later', heldUp: false }
    : { act: 'delete_pod' };
}

const hadNotStarted = (reason: string | null): boolean =>
  reason === 'pending_timeout' || isStartFailure(reason);

/**
 * Undefined once two readings of GitHub, some time apart, prove it idle, or GitHub does not know
 * it.
 */
function provenIdle(
  { worker, runner }: StopEvidence,
  { idleApartMs }: StopRules,
): StopStep | undefined {
  if (runner === undefined) return { look: 'runner' };
  if (runner === 'busy')
    return { act: 'keep', assigned: true, why: 'GitHub calls its runner busy' };
  if (runner === 'unknown') return undefined;
  const left = idleApartMs - (worker.idleForMs ?? 0);
  return left > 0
    ? {
        act: 'wait',
        forMs: left,
        why: 'a second answer of GitHub must confirm that its runner is idle',
        heldUp: false,
      }
    : undefined;
}

/**
 * Whether only the log can prove that no job runs, because the pod's status may be late. A runner
 * that was online or had a job has started. One that GitHub does not know may have ended after its
 * job. One that was deregistered may have taken a job right before.
 */
function needsLog(
  pod: 'unstarted' | 'working' | 'over',
  { worker, runner }: StopEvidence,
): boolean {
  if (pod === 'working') return true;
  return (
    pod === 'unstarted' &&
    (hasBegun(worker) || runner === 'unknown' || worker.deregistration === 'done')
  );
}

const hasBegun = ({ wasOnline, hadJob }: StoppingWorker): boolean => wasOnline || hadJob;

/** Undefined once the log shows that no job runs. */
function provenByLog(
  { worker, pod, runner, log }: StopEvidence,
  rules: StopRules,
): StopStep | undefined {
  const begun = hasBegun(worker);
  const neverBegan = pod === 'unstarted' && !begun;
  switch (log) {
    case undefined:
      return { look: 'log' };
    case 'job_begun':
      return worker.hadJob && runner === 'unknown'
        ? heldUp(
            rules,
            'GitHub no longer knows its runner, but its log does not show the end of its job',
          )
        : { act: 'keep', assigned: true, why: 'its log shows a job' };
    case 'job_over':
      return worker.hadJob
        ? undefined
        : { act: 'keep', assigned: true, why: 'its log shows a job' };
    case 'unreadable':
      return heldUp(rules, 'its log cannot be read, so it is not known whether a job runs');
    case 'silent':
      // A runner that was online wrote a line about it. If that line is gone, others may be, too.
      if (neverBegan || (!begun && (runner === 'offline' || worker.deregistration === 'done')))
        return undefined;
      return heldUp(
        rules,
        'its log does not show its beginning, so it is not known whether a job runs',
      );
    case 'none':
      if (neverBegan) return undefined;
      return heldUp(
        rules,
        'it has run, but its node says that it has not: it is not known whether a job runs',
      );
    case 'listening':
      return undefined;
    default:
      return log satisfies never;
  }
}

/** Waits for a cause that may not pass by itself. */
const heldUp = ({ retryMs }: StopRules, why: string): StopStep => ({
  act: 'wait',
  forMs: retryMs,
  why,
  heldUp: true,
});
