import { closeFoundOutKeys } from '@paddock/db/matching/unserved-keys';
import type { BreakerRules } from '@paddock/db/breakers/note-failure';
import {
  closeServedPools,
  forgetFailedEntities,
  noteWorkerFailure,
} from '@paddock/db/workers/worker-failures';
import {
  endJoblessGraces,
  findJobsToLookUp,
  type JobToLookUp,
} from '@paddock/db/jobs/jobs-to-look-up';
import {
  type LookUpNote,
  type NextLooks,
  noteHiddenRepository,
  noteLookUps,
  postponeLookUps,
} from '@paddock/db/jobs/note-look-ups';
import { currentPoolsDocument, type CurrentPools } from '@paddock/db/pools/pools-documents';
import { type Finding, recordFindings } from '@paddock/db/jobs/record-findings';
import { untilStored } from '@paddock/db/jobs/store-jobs';
import type { Database } from '@paddock/db/schema/tables';
import { judgeJob, type JobVerdict } from '@paddock/domain/jobs/judge-job';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import type { GitHubFailure } from '@paddock/github/errors';
import { findRun, type GitHubRun } from '@paddock/github/jobs';
import type { Kysely } from 'kysely';
import { type Allowance, createAllowances } from './call-allowance.ts';
import { type AskGitHub, createAskGitHub, isHidden, type Unanswered } from '../ask-github.ts';
import { askRun, endOfRun, type RunAnswer } from './ask-run.ts';
import { findingOf } from './discovered-job.ts';
import type { ReconcilerEvents } from '../events.ts';
import { parseRepositoryName } from './repository-name.ts';

export interface LookUpJobsOptions extends NextLooks {
  db: Kysely<Database>;
  github: GitHub;
  events: Pick<
    ReconcilerEvents,
    'jobsLookedUp' | 'notAnswered' | 'jobsMisjudged' | 'joblessEnds' | 'workersMisused'
  >;
  batch: number;
  /** How many of a demand key's oldest waiting jobs to look up after an unexplained end. */
  perKey: number;
  breakerRules: BreakerRules;
  /** The share of an installation's remaining budget that one pass may use. */
  budgetPercent: number;
  /** How long a job waits for its next look-up after GitHub did not answer. */
  retryMs: number;
  /** Ask GitHub, but write nothing. */
  dryRun: boolean;
}

export interface LookUpCounts extends Record<JobVerdict['kind'], number> {
  jobs: number;
  runs: number;
  /** Runs for which GitHub did not answer, or for which the budget was used up. */
  unanswered: number;
  /** The unanswered runs that GitHub does not let us see. */
  hidden: number;
  /** Unexplained ends and stops without a job that no longer keep a waiting job from a worker. */
  graces: number;
  full: boolean;
}

/**
 * Asks GitHub about every job in doubt, run by run, and writes the verdicts. An answer that a
 * delivery could give is written as a delivery is. A failure concerns one run, but once GitHub
 * refuses an installation, its other runs wait for the next pass.
 */
export async function lookUpJobs(
  options: LookUpJobsOptions,
  signal: AbortSignal,
): Promise<LookUpCounts> {
  const { db, batch, perKey, secondLookMs, retryMs, dryRun, breakerRules } = options;
  const verdicts = { stated: 0, queued: 0, requeued: 0, answered: 0, gone: 0, failed: 0 };
  const counts: LookUpCounts = {
    ...verdicts,
    jobs: 0,
    runs: 0,
    unanswered: 0,
    hidden: 0,
    graces: 0,
    full: false,
  };
  const pools = await currentPoolsDocument(db);
  if (pools === undefined) return counts;
  const jobs = await findJobsToLookUp(db, {
    batch,
    perKey,
    secondLookMs,
    appIds: options.github.appIds,
  });
  let hidden = 0;
  const onUnanswered = (asked: Unanswered, failure: GitHubFailure | undefined) => {
    if (isHidden(failure)) hidden++;
    options.events.notAnswered('look-up-jobs', asked, failure);
  };
  const ask = createAskGitHub({
    db,
    github: options.github,
    breakerRules,
    dryRun,
    onUnanswered,
    signal,
  });
  const allowanceOf = createAllowances(options.github.budgetOf, options.budgetPercent);
  const unanswered: number[] = [];
  for (const ofRun of Map.groupBy(jobs, ({ repoId, runId }) => `${repoId} ${runId}`).values()) {
    if (signal.aborted) break;
    const notes = await lookUpRun({ ...options, pools, ask, allowanceOf }, ofRun);
    if (notes === undefined) unanswered.push(...ofRun.map(({ jobId }) => jobId));
    counts[notes === undefined ? 'unanswered' : 'runs']++;
    for (const { verdict } of notes ?? []) counts[verdict.kind]++;
  }
  if (!dryRun) {
    await postponeLookUps(db, unanswered, retryMs);
    counts.graces = await endGraces(options);
  }
  counts.jobs = jobs.length;
  counts.hidden = hidden;
  counts.full = jobs.filter(({ isDue }) => isDue).length >= batch;
  return counts;
}

/**
 * Ends the graces that GitHub's answers have settled. A worker that succeeded while GitHub kept all
 * jobs queued had no job: that counts as a failure of its pool. One transaction per entity and
 * pool, so that the matcher, woken to replace the workers, finds the breaker.
 */
async function endGraces({ db, perKey, breakerRules, events }: LookUpJobsOptions): Promise<number> {
  // Not in the transaction below, which locks rows in another order.
  await closeServedPools(db);
  await forgetFailedEntities(db);
  const endSome = () =>
    db.transaction().execute(async (trx) => {
      const ended = await endJoblessGraces(trx, perKey);
      const jobless = ended.filter(({ isStopped }) => !isStopped);
      for (const { podName } of jobless) {
        const message = `the runner ${podName} succeeded without a job while GitHub still had jobs of its pool queued`;
        await noteWorkerFailure(
          { db: trx, breakerRules },
          { podName, failureClass: 'no_job', message },
        );
      }
      return { graces: ended.length, jobless };
    });
  let graces = 0;
  for (let some = await endSome(); some.graces > 0; some = await endSome()) {
    graces += some.graces;
    if (some.jobless.length > 0) events.joblessEnds(some.jobless);
  }
  return graces;
}

type Pass = LookUpJobsOptions & {
  pools: CurrentPools;
  ask: AskGitHub;
  allowanceOf: (installationId: number) => Allowance;
};

/** The verdicts on one run's jobs. Undefined if GitHub did not answer or the budget is used up. */
async function lookUpRun(
  pass: Pass,
  jobs: readonly JobToLookUp[],
): Promise<LookUpNote[] | undefined> {
  const [first] = jobs;
  if (first === undefined || !pass.allowanceOf(first.installationId).take()) return undefined;
  const { repoId, runId, login } = first;
  const name = {
    owner: login,
    repo: parseRepositoryName(first.repoFullName)?.repo ?? first.repoFullName,
  };
  let isInvisible = false;
  const judged = await pass.ask(first, `run ${runId} of repository ${repoId}`, async (client) => {
    const answer = await askRun(client, { runId, repoId, name });
    isInvisible = answer.kind === 'invisible';
    if (isInvisible) return undefined;
    const notes = await judgeAll(client, answer, jobs);
    return { notes, findings: findingsOf(answer, jobs, notes) };
  });
  if (isInvisible && !pass.dryRun) await noteHiddenRepository(pass.db, jobs);
  if (judged !== undefined && !pass.dryRun) await settle(pass, judged);
  return judged?.notes;
}

async function judgeAll(
  client: InstallationClient,
  answer: RunAnswer,
  jobs: readonly JobToLookUp[],
): Promise<LookUpNote[]> {
  const notes: LookUpNote[] = [];
  let run: Promise<GitHubRun | undefined> | undefined;
  for (const job of jobs) {
    const found = answer.kind === 'run' ? answer.jobs.get(job.jobId) : undefined;
    if (answer.kind !== 'run' || found === undefined) {
      notes.push({ ...job, verdict: judgeJob(job, { kind: 'gone' }) });
      continue;
    }
    // Only a job that has stayed queued needs to know whether its run is over: one call for all of
    // them.
    const mayBeOver = found.status === 'queued' && found.conclusion === null && job.wasQueued;
    const runEnd = mayBeOver
      ? endOfRun(await (run ??= findRun(client, answer.name, found.runId)), found)
      : undefined;
    const { status, conclusion } = found;
    notes.push({ ...job, verdict: judgeJob(job, { kind: 'job', status, conclusion, runEnd }) });
  }
  return notes;
}

function findingsOf(
  answer: RunAnswer,
  jobs: readonly JobToLookUp[],
  notes: readonly LookUpNote[],
): Finding[] {
  return notes.flatMap(({ jobId, verdict }) => {
    const job = jobs.find((one) => one.jobId === jobId);
    const found = answer.kind === 'run' ? answer.jobs.get(jobId) : undefined;
    if (
      verdict.kind !== 'stated' ||
      job === undefined ||
      found === undefined ||
      answer.kind !== 'run'
    )
      return [];
    const { entityId: id, login, entityType: type, repoId, appId, installationId } = job;
    const repoFullName = `${answer.name.owner}/${answer.name.repo}`;
    return [
      findingOf(found, verdict.action, {
        entity: { id, login, type },
        repoId,
        repoFullName,
        isPublic: null,
        appId,
        installationId,
      }),
    ];
  });
}

/**
 * In one transaction, notes first: they are fenced by the rows as read, and GitHub's statements are
 * not.
 */
async function settle(
  { db, pools, events, ...looks }: Pass,
  { notes, findings }: { notes: LookUpNote[]; findings: Finding[] },
) {
  const { written, stored } = await untilStored(() =>
    db.transaction().execute(async (trx) => {
      const noted = {
        written: await noteLookUps(trx, notes, looks),
        stored: await recordFindings(trx, findings, pools),
      };
      await closeFoundOutKeys(
        trx,
        notes.filter(endedWhilePending).map(({ jobId }) => jobId),
      );
      return noted;
    }),
  );
  events.workersMisused(stored);
  events.jobsLookedUp(notes.filter(({ jobId }) => written.has(jobId)));
  const misjudged = stored.filter(
    ({ jobId, before, changed }) => before === 'failed' && changed && isCompleted(notes, jobId),
  );
  if (misjudged.length > 0) events.jobsMisjudged(misjudged.map(({ jobId }) => jobId));
}

const endedWhilePending = ({ status, verdict }: LookUpNote): boolean =>
  status === 'pending' &&
  (verdict.kind === 'failed' || (verdict.kind === 'stated' && verdict.action === 'completed'));

const isCompleted = (notes: readonly LookUpNote[], jobId: number): boolean =>
  notes.some(
    (note) =>
      note.jobId === jobId && note.verdict.kind === 'stated' && note.verdict.action === 'completed',
  );
