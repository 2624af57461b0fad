// The one place that says whether a job may run on a worker. Whoever ends a worker, deletes its pod
// or removes its registration asks here.

/**
 * What a pod's status says of the runner's container. `unplaced`: no node has the pod. `unstarted`:
 * a node has it, and the container has not run; a node may report late. `over`: the container has
 * ended, and others run. `ended`: all have ended.
 */
export type PodSays = 'absent' | 'unplaced' | 'unstarted' | 'working' | 'over' | 'ended';

export interface PodStatus {
  readonly phase: string;
  readonly nodeName?: string | undefined;
  readonly runner: { readonly state: 'waiting' | 'running' | 'terminated' | 'unknown' };
  /** When the runner's container started first; absent if no report says that it has. */
  readonly runnerStartedAt?: Date | undefined;
  /** No main container runs or will run. */
  readonly containersTerminated: boolean;
}

export function podSays(pod: PodStatus | undefined): PodSays {
  if (pod === undefined) return 'absent';
  // The pod of a lost node has failed, although its containers may run.
  if (pod.containersTerminated && (pod.phase === 'Succeeded' || pod.phase === 'Failed'))
    return 'ended';
  if (pod.runner.state === 'terminated') return 'over';
  const hasRun = pod.runner.state === 'running' || pod.runnerStartedAt !== undefined;
  if (hasRun || pod.phase !== 'Pending') return 'working';
  return pod.nodeName === undefined ? 'unplaced' : 'unstarted';
}

/**
 * Whether the pod of a worker that has ended may be deleted. `unchanged`: it never started, as one
 * made after the end, which has no Secret; so only if it has not changed since.
 */
export function podMayGo(pod: PodStatus): 'now' | 'unchanged' | 'no' {
  // The pod of a lost node has failed although its containers seem to run.
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed' || pod.containersTerminated) return 'now';
  const says = podSays(pod);
  return says === 'unplaced' || says === 'unstarted' ? 'unchanged' : 'no';
}

/** What GitHub says of a runner. It calls a busy one idle for minutes, and never the reverse. */
export type RunnerSays = 'unknown' | 'offline' | 'online' | 'busy';

export function runnerSays(
  runner: { readonly online: boolean; readonly busy: boolean } | undefined,
): RunnerSays {
  if (runner === undefined) return 'unknown';
  if (runner.busy) return 'busy';
  return runner.online ? 'online' : 'offline';
}

/** No runner uses it: the registration of a worker that has ended, or has no row, may go. */
export const isUnused = (runner: RunnerSays): boolean =>
  runner === 'offline' || runner === 'unknown';

/**
 * What the runner's log says. `job_over`: its last job has ended. `silent`: the whole log, without a
 * runner's lines. `none`: its node says that the container has not started. `cut`: lines are
 * missing. The last two prove nothing.
 */
export type LogSays =
  | 'job_begun'
  | 'job_over'
  | 'listening'
  | 'silent'
  | 'none'
  | 'cut'
  | 'unreadable';

/** Whether GitHub names a job on the runner. `more`: not all runs that wait were read yet. */
export type JobsSay = 'none' | 'found' | 'more';

/** What its row says of a worker. Times in milliseconds. */
export interface KnownWorker {
  /** A job is known to run on it. */
  readonly isAssigned: boolean;
  /** It was assigned, and its job has ended or was given up. */
  readonly hadJob: boolean;
  /** Its pod was seen, and a container of it was seen to run. */
  readonly hadPod: boolean;
  readonly hadStarted: boolean;
  /** GitHub has called its runner online. */
  readonly wasOnline: boolean;
  /** How long all readings of GitHub have called it not busy; null without one. */
  readonly idleForMs: number | null;
  /** How long all readings have called it offline; null if the last one did not. */
  readonly offlineForMs: number | null;
  /** How long ago its stop was asked for. */
  readonly stoppingForMs: number;
  /** What held its stop up at the attempt before. */
  readonly heldBy: string | null;
}

/** Evidence about one worker, read now; absent: unread. */
export interface Evidence extends KnownWorker {
  readonly pod: Exclude<PodSays, 'ended'>;
  readonly runner?: RunnerSays | undefined;
  readonly log?: LogSays | undefined;
  readonly job?: JobsSay | undefined;
  /** GitHub has dropped its runner, so it gives it no job. */
  readonly isDeregistered: boolean;
  /** It may serve again until it is deregistered, so that is not hurried. */
  readonly mayReturn: boolean;
}

export interface ProofRules {
  /** Least time between two readings that prove a runner idle. */
  readonly idleApartMs: number;
  /** The same where the log proves nothing: GitHub is late by minutes. */
  readonly unreadMs: number;
  /** How long GitHub must call a runner without a pod offline, until it counts as gone. */
  readonly offlineMs: number;
}

/** `found`: the job that a run names. `open` without a time: the cause may not pass by itself. */
export type Verdict =
  | { readonly runs: 'nothing' | 'found' }
  | { readonly runs: 'job'; readonly why: string }
  | { readonly runs: 'open'; readonly why: string; readonly forMs?: number }
  | { readonly look: 'runner' | 'log' | 'job' };

const NOTHING = { runs: 'nothing' } as const;

/**
 * Whether something runs on a worker, by what could have run there:
 *
 * no pod ─► GitHub does not know it, or has called it offline for long
 *
 * its container never ran ─► its pod, read now, and one reading of GitHub
 *
 * it ran, and its log is whole ─► the log, and two readings of GitHub
 *
 * it ran, and its log proves nothing ─► readings of GitHub far apart, and no run names it
 *
 * Names what to read next, or what to wait for, while that is open.
 */
export function whatRuns(evidence: Evidence, rules: ProofRules): Verdict {
  const { pod, log } = evidence;
  if (pod === 'absent') return withoutPod(evidence, rules);
  if (evidence.isAssigned) return { runs: 'job', why: 'a job runs on it' };
  const reading = reads(
    evidence,
    neverRan(evidence) && !evidence.mayReturn ? 0 : rules.idleApartMs,
  );
  if (reading !== undefined) return reading;
  // A container's end is never reported early, and no node has what is unplaced.
  if (pod === 'over' || (pod === 'unplaced' && neverRan(evidence))) return NOTHING;
  switch (log) {
    case undefined:
      return { look: 'log' };
    case 'job_begun':
      if (evidence.hadJob && evidence.runner === 'unknown')
        return held(
          'GitHub no longer knows its runner, but its log does not show the end of its job',
        );
      return ofItsJob(evidence);
    case 'job_over':
      return evidence.hadJob ? NOTHING : ofItsJob(evidence);
    case 'listening':
      return NOTHING;
    case 'none':
      return neverRan(evidence)
        ? NOTHING
        : byGitHub(evidence, rules, 'its node says that it has not run, although it has');
    case 'silent':
      // A runner that was online wrote a line about it. If that line is gone, others may be, too.
      return neverRan(evidence) || isNewToGitHub(evidence)
        ? NOTHING
        : byGitHub(evidence, rules, 'its log shows no line of a runner');
    case 'cut':
    case 'unreadable':
      return neverRan(evidence) && isNewToGitHub(evidence)
        ? (reads(evidence, rules.idleApartMs) ?? NOTHING)
        : byGitHub(
            evidence,
            rules,
            log === 'cut' ? 'its log has lost its beginning' : 'its log cannot be read',
          );
    default:
      return log satisfies never;
  }
}

function withoutPod(evidence: Evidence, { idleApartMs, offlineMs }: ProofRules): Verdict {
  const { runner, offlineForMs } = evidence;
  if (evidence.isDeregistered) return NOTHING;
  if (runner === undefined) return { look: 'runner' };
  if (runner === 'unknown') return NOTHING;
  if (isYetToStart(evidence)) return reads(evidence, idleApartMs) ?? NOTHING;
  if (offlineForMs === null) return held(`its pod is gone, but GitHub calls the runner ${runner}`);
  return offlineForMs >= offlineMs
    ? NOTHING
    : {
        runs: 'open',
        why: 'its pod is gone, and GitHub calls the runner offline',
        forMs: offlineMs - offlineForMs,
      };
}

/** It has no pod, and none of it was seen to run: its pod may be made at this moment. */
export const isYetToStart = (worker: KnownWorker): boolean =>
  !worker.isAssigned &&
  !worker.hadJob &&
  (!worker.hadPod || !(worker.hadStarted || worker.wasOnline));

/** By its pod's status its runner has not run, and GitHub has never called it online. */
const neverRan = ({ pod, wasOnline, hadJob }: Evidence): boolean =>
  (pod === 'unplaced' || pod === 'unstarted') && !wasOnline && !hadJob;

/** GitHub has it, or we removed it, and it was never online: it did not leave after a job. */
const isNewToGitHub = ({ runner, wasOnline, hadJob, isDeregistered }: Evidence): boolean =>
  !wasOnline && !hadJob && (isDeregistered || runner === 'offline');

/** Undefined once GitHub calls its runner idle, for as long as that, or does not have it. */
function reads(
  { runner, idleForMs, isDeregistered }: Evidence,
  forMs: number,
): Verdict | undefined {
  if (isDeregistered) return undefined;
  if (runner === undefined) return { look: 'runner' };
  if (runner === 'busy') return { runs: 'job', why: 'GitHub calls its runner busy' };
  const left = forMs - (idleForMs ?? 0);
  return runner === 'unknown' || left <= 0
    ? undefined
    : {
        runs: 'open',
        why: 'a second answer of GitHub must confirm that its runner is idle',
        forMs: left,
      };
}

/** Its log shows a job. If a run that waits names it, that is the job. */
function ofItsJob({ job }: Evidence): Verdict {
  if (job === undefined) return { look: 'job' };
  return job === 'found' ? { runs: 'found' } : { runs: 'job', why: 'its log shows a job' };
}

/** The log proves nothing, as the attempt before found too: only GitHub can. */
function byGitHub(evidence: Evidence, { unreadMs }: ProofRules, why: string): Verdict {
  const { runner, job, hadJob, idleForMs, stoppingForMs, isDeregistered, heldBy } = evidence;
  const unproven = `${why}, so it is not known whether a job runs`;
  if (hadJob && runner === 'unknown') return held(unproven);
  const idleMs = runner === 'unknown' ? stoppingForMs : (idleForMs ?? 0);
  const isIdle = isDeregistered || Math.min(idleMs, stoppingForMs) >= unreadMs;
  if (!isIdle || heldBy?.startsWith(unproven) !== true) return held(unproven);
  switch (job) {
    case undefined:
      return { look: 'job' };
    case 'found':
      return { runs: 'found' };
    case 'more':
      return held(`${unproven}: GitHub is asked for more runs that wait for its like`);
    case 'none':
      return NOTHING;
    default:
      return job satisfies never;
  }
}

const held = (why: string): Verdict => ({ runs: 'open', why });
