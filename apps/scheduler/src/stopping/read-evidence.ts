import { endRefusals } from '@paddock/db/entities/refusals';
import {
  findFittingRuns,
  type FittingRun,
  readingOf,
  saveRunnerReadings,
} from '@paddock/db/workers/runner-readings';
import { noteRunsRead, type WorkerToStop } from '@paddock/db/workers/stopping-workers';
import type { Db } from '@paddock/db/schema/tables';
import { type JobsSay, type LogSays, podSays, runnerSays } from '@paddock/domain/workers/may-end';
import { isRunnerOf } from '@paddock/domain/workers/worker-name';
import type { StopEvidence, StopRules, StopStep } from '@paddock/domain/workers/stop-steps';
import { askRun } from '@paddock/github/ask-run';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import type { GitHubFailure } from '@paddock/github/errors';
import type { GitHubJob } from '@paddock/github/jobs';
import {
  findRunner,
  getRunner,
  type GitHubRunner,
  type RegistrationScope,
} from '@paddock/github/runners';
import type { Cluster } from '@paddock/kube/connect';
import { unless } from '@paddock/kube/errors';
import { readJobInLog } from '@paddock/kube/runner-log';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { findPod } from '@paddock/kube/pods';
import { scopeOf, unseenRepository } from '../scope-of.ts';
import type { createRecentRunJobs } from './recent-run-jobs.ts';

/** Each run costs a call. More at once would use up the entity's budget at GitHub. */
const MOST_RUNS = 100;

export interface ReadingEvidence {
  readonly db: Db;
  readonly github: GitHub;
  readonly cluster: Cluster;
  /** Most runs with waiting jobs that one attempt asks GitHub for. */
  readonly maxRuns?: number;
  readonly recentRunJobs: ReturnType<typeof createRecentRunJobs>;
  readonly stopRules: Pick<StopRules, 'lastLookMs'>;
}

/** GitHub says nothing of a runner. `refusal` is news; without it, GitHub was not asked at all. */
export class HiddenRunnerError extends Error {
  readonly refusal: GitHubFailure | undefined;

  constructor(message: string, refusal?: GitHubFailure) {
    super(message);
    this.name = 'HiddenRunnerError';
    this.refusal = refusal;
  }
}

/** Facts that an attempt has read beside its evidence. */
interface Seen {
  readonly client: InstallationClient;
  scope?: RegistrationScope;
  pod?: ObservedPod;
  runner?: GitHubRunner;
  jobId?: number;
}

export interface StopAttempt extends ReadingEvidence {
  readonly worker: WorkerToStop;
  readonly seen: Seen;
  readonly signal: AbortSignal;
}

type Look = Extract<StopStep, { look: unknown }>['look'];

/** Reads one piece of evidence now. Throws what the clients of GitHub and the cluster throw. */
export async function readEvidence(
  what: Look,
  attempt: StopAttempt,
  evidence: StopEvidence,
): Promise<Partial<StopEvidence>> {
  switch (what) {
    case 'pod':
      return readPod(attempt);
    case 'runner':
      return readRunner(attempt, evidence);
    case 'job':
      return { job: await readJobs(attempt, sinceDeregistration(evidence, attempt.stopRules)) };
    case 'log':
      return { log: await readLog(attempt) };
    default:
      return what satisfies never;
  }
}

export const placeOf = ({ namespace, podName }: WorkerToStop) => ({ namespace, name: podName });

async function readPod({ cluster, worker, seen }: StopAttempt): Promise<Partial<StopEvidence>> {
  const reading = findPod(cluster, placeOf(worker));
  // Its namespace may be gone, too, with our rights there: then the follower's word must do.
  const pod = await (worker.podlessForMs === null ? reading : unless('forbidden', reading));
  // A pod of another uid that has taken the name is not ours.
  if (pod === undefined || (worker.podUid !== null && pod.uid !== worker.podUid))
    return { pod: podSays(undefined) };
  seen.pod = pod;
  return { pod: podSays(pod), isGoing: pod.deletionTimestamp !== undefined };
}

/**
 * Reads the runner by its name, with one call. A list may lack it, so then GitHub is asked by its
 * id. Saves each reading, since the proof needs two that lie apart.
 */
async function readRunner(
  { db, worker, seen }: StopAttempt,
  evidence: StopEvidence,
): Promise<Partial<StopEvidence>> {
  if (worker.isRefused)
    throw new HiddenRunnerError(
      `GitHub is not asked about the entity ${worker.login} now: it refused us there a short while ago, or no configured App is installed on it.`,
    );
  const { podName, runnerId } = worker;
  const scope = await scopeOf(worker, seen.client);
  if (scope === undefined) {
    const refusal = unseenRepository(worker);
    throw new HiddenRunnerError(refusal.message, refusal);
  }
  const named = await findRunner(seen.client, scope, podName);
  const isIt = named !== undefined && isRunnerOf(worker, named);
  const runner = isIt || runnerId === null ? named : await getRunner(seen.client, scope, runnerId);
  await endRefusals(db, { ...worker, repoId: worker.scopeRepoId });
  const [read] = await saveRunnerReadings(db, [readingOf(podName, runner)]);
  seen.scope = scope;
  if (runner !== undefined) seen.runner = runner;
  const known = { ...evidence.worker, ...(read ?? { hasEnded: true }) };
  return { worker: known, runner: runnerSays(runner) };
}

/** A node answers 400 for a container that has not started; other failures are of the way there. */
async function readLog({ cluster, worker, seen, signal }: StopAttempt): Promise<LogSays> {
  const log = { ...placeOf(worker), startedAt: seen.pod?.runnerStartedAt };
  const read = await readJobInLog(cluster, log, signal);
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

/** The jobs of a run; none if GitHub does not know it. Throws where GitHub forbids the repository. */
async function askForJobs(
  client: InstallationClient,
  owner: string,
  { runId, repoId, repoFullName }: FittingRun,
): Promise<readonly GitHubJob[]> {
  const [, repo = ''] = repoFullName.split('/');
  const answer = await askRun(client, { runId, repoId, name: { owner, repo } });
  if (answer.kind === 'invisible' && answer.refusal !== undefined) throw answer.refusal;
  return answer.kind === 'run' ? [...answer.jobs.values()] : [];
}

/**
 * Makes one call per run, for all stops at a time, the newest runs first. If there are more, the row
 * says how far this attempt came, and the next one goes on there.
 */
async function readJobs(
  { db, maxRuns = MOST_RUNS, recentRunJobs, worker, seen }: StopAttempt,
  sinceMs: number,
): Promise<JobsSay> {
  const { podName, runnerId, runsReadFrom } = worker;
  const found = await findFittingRuns(db, podName, { limit: maxRuns, readFrom: runsReadFrom });
  const runs = found.slice(0, maxRuns);
  for (const run of runs) {
    const ask = () => askForJobs(seen.client, worker.login, run);
    const jobs = await recentRunJobs.jobsOf(run.runId, sinceMs, ask);
    const ours = jobs.find((job) =>
      isRunnerOf({ podName, runnerId }, { name: job.runnerName, id: job.runnerId }),
    );
    if (ours === undefined) continue;
    seen.jobId = ours.id;
    return 'found';
  }
  const last = runs.at(-1);
  if (found.length <= maxRuns || last === undefined) return 'none';
  await noteRunsRead(db, worker, last.runId);
  return 'more';
}
