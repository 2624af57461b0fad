import { endRefusals } from '@paddock/db/breakers/refusals';
import { findFittingRuns } from '@paddock/db/jobs/fitting-runs';
import { saveRunnerReadings } from '@paddock/db/workers/runner-readings';
import type { WorkerToStop } from '@paddock/db/workers/stopping-workers';
import type { Database } from '@paddock/db/schema/tables';
import { isRunnerOf } from '@paddock/domain/workers/runner-name';
import type { StopEvidence, StoppingLog, StoppingPod, StoppingRunner, StopRules, StopStep } from '@paddock/domain/workers/stop-steps';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import { listRunJobs } from '@paddock/github/jobs';
import { findRunner, type GitHubRunner } from '@paddock/github/runners';
import type { RegistrationScope } from '@paddock/github/scope';
import type { Cluster } from '@paddock/kube/connect';
import { readJobInLog } from '@paddock/kube/job-begun';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { findPod } from '@paddock/kube/pods';
import type { Kysely } from 'kysely';
import { scopeOf } from '../scope-of.ts';
import type { RunLooks } from './run-looks.ts';

/** Each costs a call. With more, one stop would use up the entity's budget at GitHub. */
export const MOST_RUNS = 100;

export interface Looking {
  readonly db: Kysely<Database>;
  readonly github: GitHub;
  readonly cluster: Cluster;
  /** Runs with waiting jobs that one attempt asks GitHub for. */
  readonly maxRuns?: number;
  readonly runLooks: RunLooks;
  readonly stopRules: Pick<StopRules, 'lastLookMs'>;
}

/**
 * The repository where a runner registered is not shown to us: deleted, or not among those of the
 * installation.
 */
export class UnseenRepositoryError extends Error {
  constructor({ podName, scopeRepoId }: WorkerToStop) {
    super(`GitHub does not show us repository ${scopeRepoId}, where the runner ${podName} is registered: give the App access to it.`);
    this.name = 'UnseenRepositoryError';
  }
}

/**
 * GitHub has refused us there a short while ago, and is not asked again for every worker (C9); or
 * there is no App to ask through.
 */
export class RefusedEntityError extends Error {
  constructor({ login }: WorkerToStop) {
    super(`GitHub is not asked about the entity ${login} now: it has refused us there, or no App that is configured may be used on it.`);
    this.name = 'RefusedAccountError';
  }
}

/** What an attempt has in hand besides its evidence. */
export interface Seen {
  readonly client: InstallationClient;
  scope?: RegistrationScope;
  pod?: ObservedPod;
  runner?: GitHubRunner;
  jobId?: number;
}

export type Look = Extract<StopStep, { look: unknown }>['look'];

/**
 * Looks at one thing, now, and answers what is known then. Throws what the clients of GitHub and
 * the cluster throw.
 */
export async function lookAt(
  what: Look,
  parts: Looking,
  worker: WorkerToStop,
  { evidence, seen, signal }: { evidence: StopEvidence; seen: Seen; signal: AbortSignal },
): Promise<StopEvidence> {
  switch (what) {
    case 'pod':
      return { ...evidence, pod: await lookAtPod(parts, worker, seen) };
    case 'runner':
      if (worker.isRefused) throw new RefusedEntityError(worker);
      return lookAtRunner(parts, worker, evidence, seen);
    case 'job':
      return { ...evidence, job: await lookAtJobs(parts, worker, seen, sinceDeregistration(evidence, parts.stopRules)) };
    case 'log':
      return { ...evidence, log: stoppingLog(await readJobInLog(parts.cluster, placeOf(worker), signal)) };
    default:
      return what satisfies never;
  }
}

export const placeOf = ({ namespace, podName }: WorkerToStop) => ({ namespace, name: podName });

async function lookAtPod({ cluster }: Looking, worker: WorkerToStop, seen: Seen): Promise<StoppingPod> {
  const pod = await findPod(cluster, placeOf(worker));
  // Another that has taken the name is not ours.
  if (pod === undefined || (worker.podUid !== null && pod.uid !== worker.podUid)) return 'absent';
  seen.pod = pod;
  return stoppingPod(pod);
}

/** A pod's state as far as ending its worker depends on it. */
function stoppingPod({ phase, containersTerminated, deletionTimestamp, runner, runningAt }: ObservedPod): StoppingPod {
  if (containersTerminated && (phase === 'Succeeded' || phase === 'Failed')) return 'ended';
  if (deletionTimestamp !== undefined) return 'terminating';
  if (runner.state === 'terminated') return 'over';
  return phase === 'Pending' && runner.state !== 'running' && runningAt === undefined ? 'unstarted' : 'working';
}

/**
 * One call: the runner by its name. It is written down before it counts, for two readings some time
 * apart are asked for.
 */
async function lookAtRunner({ db }: Looking, worker: WorkerToStop, evidence: StopEvidence, seen: Seen): Promise<StopEvidence> {
  const { podName } = worker;
  const scope = await scopeOf(worker, seen.client);
  if (scope === undefined) throw new UnseenRepositoryError(worker);
  const named = await findRunner(seen.client, scope, podName);
  const runner = named !== undefined && isRunnerOf(worker, named) ? named : undefined;
  await endRefusals(db, { ...worker, repoId: worker.scopeRepoId });
  const reading = { podName, isKnown: runner !== undefined, isOnline: runner?.online ?? false, isBusy: runner?.busy ?? false };
  const [read] = await saveRunnerReadings(db, [reading]);
  seen.scope = scope;
  if (runner !== undefined) seen.runner = runner;
  const known = read === undefined ? { ...evidence.worker, hasEnded: true } : { ...evidence.worker, ...withoutName(read) };
  return { ...evidence, worker: known, runner: stoppingRunner(runner) };
}

const withoutName = <T extends { podName: string }>({ podName: _podName, ...rest }: T): Omit<T, 'podName'> => rest;

function stoppingRunner(runner: GitHubRunner | undefined): StoppingRunner {
  if (runner === undefined) return 'unknown';
  if (runner.busy) return 'busy';
  return runner.online ? 'online' : 'offline';
}

/**
 * What a node answers whose container has not started is 400; every other failure is of the way
 * there.
 */
function stoppingLog(read: Awaited<ReturnType<typeof readJobInLog>>): StoppingLog {
  if (typeof read === 'object') return read.unreadable.status === 400 ? 'none' : 'unreadable';
  return read === 'cut' ? 'unreadable' : read;
}

/**
 * For how long the last look has been due; one before the deregistration needs no other than a
 * fresh one. In milliseconds.
 */
const sinceDeregistration = ({ worker: { deregisteredForMs } }: StopEvidence, { lastLookMs }: Looking['stopRules']): number =>
  deregisteredForMs === null ? Infinity : deregisteredForMs - lastLookMs;

/**
 * One call per run, for all stops at a time. A run that GitHub does not show us says nothing of our
 * runner; the log has to.
 */
async function lookAtJobs(
  { db, maxRuns = MOST_RUNS, runLooks }: Looking,
  { podName, runnerId }: WorkerToStop,
  seen: Seen,
  sinceMs: number,
): Promise<'none' | 'found' | 'too_many'> {
  const runs = await findFittingRuns(db, podName, maxRuns);
  if (runs.length > maxRuns) return 'too_many';
  for (const { runId, repoFullName } of runs) {
    const [owner = '', repo = ''] = repoFullName.split('/');
    const jobs = await runLooks.jobsOf(runId, sinceMs, async () => (await listRunJobs(seen.client, { owner, repo }, runId)) ?? []);
    const ours = jobs.find((job) => isRunnerOf({ podName, runnerId }, { name: job.runnerName, id: job.runnerId }));
    if (ours === undefined) continue;
    seen.jobId = ours.id;
    return 'found';
  }
  return 'none';
}
