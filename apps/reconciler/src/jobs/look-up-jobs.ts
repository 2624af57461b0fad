import {
  type DoubtRules,
  endJoblessGraces,
  type JobInDoubt,
  markJobsInDoubt,
} from '@paddock/db/jobs/jobs-in-doubt';
import {
  findJobsToLookUp,
  type JobToLookUp,
  type LookUpNote,
  type NextLooks,
  noteHiddenJobs,
  noteLookUps,
  postponeLookUps,
} from '@paddock/db/jobs/look-ups';
import { type Finding, recordFindings } from '@paddock/db/jobs/record-jobs';
import { untilStored } from '@paddock/db/jobs/store-jobs';
import { type CurrentPools, currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { Database } from '@paddock/db/schema/tables';
import { forgetFoundOutKeys, noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { type JobVerdict, judgeJob } from '@paddock/domain/jobs/judge-job';
import type { FailureRules } from '@paddock/domain/matching/failure-classes';
import type { GitHub, InstallationClient } from '@paddock/github/connect';
import type { GitHubFailure } from '@paddock/github/errors';
import { findJob, findRun, type GitHubJob, type GitHubRun } from '@paddock/github/jobs';
import type { RepositoryName } from '@paddock/github/scope';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { type Ask, createAskGitHub, isHidden, type Unanswered } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { askRun, endOfRun, type RunAnswer } from './ask-run.ts';
import { createAllowances } from './call-allowance.ts';
import { findingOf, parseRepositoryName } from './discovered-job.ts';

export interface LookUpJobsOptions extends NextLooks {
  db: Kysely<Database>;
  github: GitHub;
  events: Pick<
    ReconcilerEvents,
    | 'jobsRecovered'
    | 'jobsFailedUnasked'
    | 'jobsLookedUp'
    | 'notAnswered'
    | 'jobsMisjudged'
    | 'joblessEnds'
    | 'workersMisused'
  >;
  doubts: DoubtRules;
  /** Most jobs that a pass asks GitHub about. */
  batch: number;
  failureRules: FailureRules;
  /** The share of an installation's remaining budget that one pass may use. */
  budgetPercent: number;
  /** How long a job waits for its next look-up after GitHub did not answer for the first time. */
  retryMs: number;
  /** Most runs that GitHub is asked about at once. */
  atOnce?: number;
}

export interface LookUpCounts extends Record<JobVerdict['kind'], number> {
  /** Stuck jobs: counts the recovery, looks the job up, wakes the matcher. */
  recovered: number;
  /** Other jobs newly in doubt: only looks them up. */
  suspected: number;
  /** Stuck jobs that failed, since GitHub has not answered for too long. */
  lost: number;
  jobs: number;
  runs: number;
  /** Runs for which GitHub did not answer, or was not asked: the budget was used up. */
  unanswered: number;
  /** The unanswered runs that GitHub does not let us see. */
  hidden: number;
  /** Unexplained ends and stops without a job that no longer keep a waiting job from a worker. */
  graces: number;
  full: boolean;
}

/**
 * Finds the jobs in doubt, asks GitHub about each that is due, run by run, and writes the verdicts.
 * An answer that a delivery could give is written as a delivery is. A failure concerns one run.
 */
export async function lookUpJobs(options: LookUpJobsOptions, pass: Pass): Promise<LookUpCounts> {
  const { db, github, batch, doubts, secondLookMs, retryMs, atOnce = 1 } = options;
  const marked = await markJobsInDoubt(db, doubts);
  const [recovered, lost] = [idsOf(marked, 'isRecovered'), idsOf(marked, 'isLost')];
  options.events.jobsRecovered(recovered);
  options.events.jobsFailedUnasked(lost);
  const verdicts = { stated: 0, queued: 0, requeued: 0, answered: 0, gone: 0, failed: 0 };
  const counts: LookUpCounts = {
    ...verdicts,
    recovered: recovered.length,
    suspected: marked.length - recovered.length - lost.length,
    lost: lost.length,
    jobs: 0,
    runs: 0,
    unanswered: 0,
    hidden: 0,
    graces: 0,
    full: false,
  };
  const pools = await currentPoolsDocument(db);
  if (pools === undefined) return counts;
  const { appIds } = github;
  const jobs = await findJobsToLookUp(db, { batch, secondLookMs, appIds });
  const onUnanswered = (asked: Unanswered, failure: GitHubFailure | undefined) => {
    if (isHidden(failure)) counts.hidden++;
    options.events.notAnswered('look-up-jobs', asked, failure);
  };
  const askFor = createAskGitHub({ db, github, pass, onUnanswered });
  const allowanceOf = createAllowances(github.budgetOf, options.budgetPercent);
  const runs = [...Map.groupBy(jobs, ({ repoId, runId }) => `${repoId} ${runId}`).values()];
  await pass.walk(runs as [JobToLookUp, ...JobToLookUp[]][], {
    entityOf: ([{ entityId }]) => entityId,
    atOnce,
    async visit(ofRun, turn) {
      turn.isUnasked = !allowanceOf(ofRun[0].installationId).take();
      const notes = turn.isUnasked
        ? undefined
        : await lookUpRun({ ...options, pools, ask: askFor(ofRun[0], turn) }, ofRun);
      const isAnswered = Array.isArray(notes);
      counts[isAnswered ? 'runs' : 'unanswered']++;
      if (isAnswered) for (const { verdict } of notes) counts[verdict.kind]++;
      return notes !== undefined;
    },
    postpone: (ofRun) =>
      postponeLookUps(
        db,
        ofRun.map(({ jobId }) => jobId),
        retryMs,
      ),
  });
  counts.graces = await endGraces(options);
  counts.jobs = jobs.length;
  counts.full = marked.length >= doubts.batch || (counts.runs > 0 && jobs.length >= batch);
  return counts;
}

const idsOf = (jobs: readonly JobInDoubt[], which: 'isRecovered' | 'isLost'): number[] =>
  jobs.filter((job) => job[which]).map(({ jobId }) => jobId);

/**
 * Ends the graces that GitHub's answers have settled. A worker that succeeded while GitHub kept all
 * jobs queued had no job: that counts as a failure of its key. One transaction per entity and
 * pool, so that the matcher, woken to replace the workers, finds the failures.
 */
async function endGraces({ db, doubts, failureRules, events }: LookUpJobsOptions): Promise<number> {
  const endSome = () =>
    db.transaction().execute(async (trx) => {
      const ended = await endJoblessGraces(trx, doubts.perKey);
      const jobless = ended.filter(({ isStopped }) => !isStopped);
      for (const { podName } of jobless) {
        const message = `the runner ${podName} succeeded without a job while GitHub still had jobs of its pool queued`;
        await noteKeyFailure(trx, { podName, failureClass: 'no_job', message }, failureRules);
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

type Asking = LookUpJobsOptions & { pools: CurrentPools; ask: Ask };

/**
 * The verdicts on one run's jobs. Undefined if GitHub did not answer; `hidden` if it does not show
 * us the repository.
 */
async function lookUpRun(
  asking: Asking,
  jobs: readonly [JobToLookUp, ...JobToLookUp[]],
): Promise<LookUpNote[] | 'hidden' | undefined> {
  const { repoId, runId, login, repoFullName } = jobs[0];
  const name = { owner: login, repo: parseRepositoryName(repoFullName)?.repo ?? repoFullName };
  let isInvisible = false;
  const judged = await asking.ask(`run ${runId} of repository ${repoId}`, async (client) => {
    const answer = await askRun(client, { runId, repoId, name });
    if (answer.kind === 'invisible') {
      isInvisible = true;
      return undefined;
    }
    const verdicts = await judgeAll(client, answer, jobs);
    return { notes: verdicts.notes, findings: findingsOf(answer.name, jobs, verdicts) };
  });
  if (judged !== undefined) await settle(asking, judged);
  if (!isInvisible) return judged?.notes;
  await noteHiddenJobs(asking.db, jobs);
  return 'hidden';
}

async function judgeAll(
  client: InstallationClient,
  answer: Exclude<RunAnswer, { kind: 'invisible' }>,
  jobs: readonly JobToLookUp[],
): Promise<{ notes: LookUpNote[]; jobsFound: ReadonlyMap<number, GitHubJob> }> {
  const notes: LookUpNote[] = [];
  const jobsFound = new Map<number, GitHubJob>();
  let run: Promise<GitHubRun | undefined> | undefined;
  for (const job of jobs) {
    const listed = answer.kind === 'run' ? answer.jobs.get(job.jobId) : undefined;
    // Before it fails as unknown to GitHub, it is asked for by its own id.
    const found =
      listed ?? (job.wasGone ? await findJob(client, answer.name, job.jobId) : undefined);
    if (found === undefined) {
      notes.push({ ...job, verdict: judgeJob(job, { kind: 'gone' }) });
      continue;
    }
    jobsFound.set(job.jobId, found);
    // Only a job that has stayed queued needs to know whether its run is over: one call for all of
    // them.
    const mayBeOver = found.status === 'queued' && found.conclusion === null && job.wasQueued;
    const runEnd = mayBeOver
      ? endOfRun(await (run ??= findRun(client, answer.name, found.runId)), found)
      : undefined;
    const { status, conclusion } = found;
    notes.push({ ...job, verdict: judgeJob(job, { kind: 'job', status, conclusion, runEnd }) });
  }
  return { notes, jobsFound };
}

function findingsOf(
  { owner, repo }: RepositoryName,
  jobs: readonly JobToLookUp[],
  { notes, jobsFound }: Awaited<ReturnType<typeof judgeAll>>,
): Finding[] {
  return notes.flatMap(({ jobId, verdict }) => {
    const job = jobs.find((one) => one.jobId === jobId);
    const found = jobsFound.get(jobId);
    if (verdict.kind !== 'stated' || job === undefined || found === undefined) return [];
    const { entityId: id, login, entityType: type, repoId, appId, installationId } = job;
    const repoFullName = `${owner}/${repo}`;
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
  { db, pools, events, ...looks }: Asking,
  { notes, findings }: { notes: LookUpNote[]; findings: Finding[] },
) {
  const { written, stored } = await untilStored(() =>
    db.transaction().execute(async (trx) => {
      const noted = {
        written: await noteLookUps(trx, notes, looks),
        stored: await recordFindings(trx, findings, pools),
      };
      await forgetFoundOutKeys(
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
