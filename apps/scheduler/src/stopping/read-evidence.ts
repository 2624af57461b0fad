import { endRefusals } from '@paddock/db/entities/refusals';
import { findFittingRuns, saveRunnerReadings } from '@paddock/db/workers/runner-readings';
import { noteRunsRead, type WorkerToStop } from '@paddock/db/workers/stopping-workers';
import type { Database } from '@paddock/db/schema/tables';
import {
  type JobsSay,
  type LogSays,
  podSays,
  runnerSays,
} from '@paddock/domain/workers/nothing-runs';
import { isRunnerOf } from '@paddock/domain/workers/runner-name';
import type { StopEvidence, StopRules, StopStep } from '@paddock/domain/workers/stop-steps';
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
import type { RecentRunJobs } from './recent-run-jobs.ts';

/** Each run costs a call. More at once would use up the entity's budget at GitHub. */
const MOST_RUNS = 100;

export interface ReadingEvidence {
  readonly db: Kysely<Database>;
  readonly github: GitHub;
  readonly cluster: Cluster;
  /** Most runs with waiting jobs that one attempt asks GitHub for. */
  readonly maxRuns?: number;
  readonly recentRunJobs: RecentRunJobs;
  readonly stopRules: Pick<StopRules, 'lastLookMs'>;
}

/**
 * GitHub hides the repository where a runner is registered: it is deleted, or not among those of
 * the installation.
 */
export class UnseenRepositoryError extends Error {
  constructor({ podName, scopeRepoId }: WorkerToStop) {
    super(
      `GitHub does not show us repository ${scopeRepoId}, where the runner ${podName} is registered: give the App access to it.`,
    );
    this.name = 'UnseenRepositoryError';
  }
}

/**
 * GitHub refused us there a short while ago, so it is not asked again for each worker; or no
 * configured App is installed there.
 */
export class RefusedEntityError extends Error {
  constructor({ login }: WorkerToStop) {
    super(
      `the entity ${login} is not looked up at GitHub now: GitHub refused us there, or no configured App is installed on it.`,
    );
    this.name = 'RefusedEntityError';
  }
}

/** Facts that an attempt has read beside its evidence. */
export interface Seen {
  readonly client: InstallationClient;
  scope?: RegistrationScope;
  pod?: ObservedPod;
  runner?: GitHubRunner;
  jobId?: number;
}

export type Look = Extract<StopStep, { look: unknown }>['look'];

/**
 * Reads one piece of evidence now and returns it with the rest. Throws what the clients of GitHub
 * and the cluster throw.
 */
export async function readEvidence(
  what: Look,
  parts: ReadingEvidence,
  worker: WorkerToStop,
  { evidence, seen, signal }: { evidence: StopEvidence; seen: Seen; signal: AbortSignal },
): Promise<StopEvidence> {
  switch (what) {
    case 'pod':
      return { ...evidence, ...(await readPod(parts, worker, seen)) };
    case 'runner':
      if (worker.isRefused) throw new RefusedEntityError(worker);
      return readRunner(parts, worker, evidence, seen);
    case 'job':
      return {
        ...evidence,
        job: await readJobs(parts, worker, seen, sinceDeregistration(evidence, parts.stopRules)),
      };
    case 'log':
      return {
        ...evidence,
        log: await readLog(parts, worker, seen, signal),
      };
    default:
      return what satisfies never;
  }
}

export const placeOf = ({ namespace, podName }: WorkerToStop) => ({ namespace, name: podName });

async function readPod(
  { cluster }: ReadingEvidence,
  worker: WorkerToStop,
  seen: Seen,
): Promise<Pick<StopEvidence, 'pod' | 'isGoing'>> {
  const pod = await findPod(cluster, placeOf(worker));
  // A pod of another uid that has taken the name is not ours.
  if (pod === undefined || (worker.podUid !== null && pod.uid !== worker.podUid))
    return { pod: podSays(undefined) };
  seen.pod = pod;
  return { pod: podSays(pod), isGoing: pod.deletionTimestamp !== undefined };
}

/**
 * Reads the runner by its name, with one call. Saves each reading, since the proof needs two that
 * lie apart.
 */
async function readRunner(
  { db }: ReadingEvidence,
  worker: WorkerToStop,
  evidence: StopEvidence,
  seen: Seen,
): Promise<StopEvidence> {
  const { podName } = worker;
  const scope = await scopeOf(worker, seen.client);
  if (scope === undefined) throw new UnseenRepositoryError(worker);
  const named = await findRunner(seen.client, scope, podName);
  const runner = named !== undefined && isRunnerOf(worker, named) ? named : undefined;
  await endRefusals(db, { ...worker, repoId: worker.scopeRepoId });
  const reading = {
    podName,
    isKnown: runner !== undefined,
    isOnline: runner?.online ?? false,
    isBusy: runner?.busy ?? false,
  };
  const [read] = await saveRunnerReadings(db, [reading]);
  seen.scope = scope;
  if (runner !== undefined) seen.runner = runner;
  const known =
    read === undefined
      ? { ...evidence.worker, hasEnded: true }
      : { ...evidence.worker, ...withoutName(read) };
  return { ...evidence, worker: known, runner: runnerSays(runner) };
}

const withoutName = <T extends { podName: string }>({
  podName: _podName,
  ...rest
}: T): Omit<T, 'podName'> => rest;

/** A node answers 400 for a container that has not started; other failures are of the way there. */
async function readLog(
  { cluster }: ReadingEvidence,
  worker: WorkerToStop,
  { pod }: Seen,
  signal: AbortSignal,
): Promise<LogSays> {
  const read = await readJobInLog(
    cluster,
    { ...placeOf(worker), startedAt: pod?.runnerStartedAt },
    signal,
  );
  if (typeof read === 'string') return read;
  return read.unreadable.status === 400 ? 'none' : 'unreadable';
}

/**
 * For how long the last look has been due, in milliseconds. Before the deregistration any recent
 * reading will do.
 */
const sinceDeregistration = (
  { worker: { deregisteredForMs } }: StopEvidence,
  { lastLookMs }: ReadingEvidence['stopRules'],
): number => (deregisteredForMs === null ? Infinity : deregisteredForMs - lastLookMs);

/**
 * Makes one call per run, for all stops at a time, the newest runs first. If there are more, the row
 * says how far this attempt came, and the next one goes on there. If GitHub hides a run, it says
 * nothing of its jobs.
 */
async function readJobs(
  { db, maxRuns = MOST_RUNS, recentRunJobs }: ReadingEvidence,
  { podName, runnerId, runsReadFrom }: WorkerToStop,
  seen: Seen,
  sinceMs: number,
): Promise<JobsSay> {
  const found = await findFittingRuns(db, podName, { limit: maxRuns, readFrom: runsReadFrom });
  const runs = found.slice(0, maxRuns);
  for (const { runId, repoFullName } of runs) {
    const [owner = '', repo = ''] = repoFullName.split('/');
    const jobs = await recentRunJobs.jobsOf(
      runId,
      sinceMs,
      async () => (await listRunJobs(seen.client, { owner, repo }, runId)) ?? [],
    );
    const ours = jobs.find((job) =>
      isRunnerOf({ podName, runnerId }, { name: job.runnerName, id: job.runnerId }),
    );
    if (ours === undefined) continue;
    seen.jobId = ours.id;
    return 'found';
  }
  const last = runs.at(-1);
  if (found.length <= maxRuns || last === undefined) return 'none';
  await noteRunsRead(db, podName, last.runId);
  return 'more';
}
