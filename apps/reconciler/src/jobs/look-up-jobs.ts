import {
  endJoblessGraces,
  failUnaskableJobs,
  type JobInDoubt,
  markJobsInDoubt,
} from '@paddock/db/jobs/jobs-in-doubt';
import {
  findJobsToLookUp,
  type JobToLookUp,
  type LookUpNote,
  noteHiddenJobs,
  noteLookUps,
  postponeLookUps,
} from '@paddock/db/jobs/look-ups';
import { type Finding, recordFindings } from '@paddock/db/jobs/record-jobs';
import { untilStored } from '@paddock/db/jobs/store-jobs';
import { type CurrentPools, currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { failureRules } from '@paddock/db/rules';
import { forgetFoundOutKeys, noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { judgeJob } from '@paddock/domain/jobs/judge-job';
import { lookUpJobsTask } from '@paddock/domain/tasks/sweep-names';
import { askRun, type RunAnswer } from '@paddock/github/ask-run';
import type { InstallationClient } from '@paddock/github/connect';
import type { GitHubFailure } from '@paddock/github/errors';
import { findJob, findRun, type GitHubJob, type GitHubRun } from '@paddock/github/jobs';
import type { NewTask } from '@paddock/queue/enqueue';
import { done, type Outcome } from '@paddock/queue/kind';
import type { Unanswered } from '../events.ts';
import { type Ask, createAskGitHub, isHidden } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { sweepTask } from '@paddock/queue/sweep-schedules';
import type { SweepContext } from '../sweep.ts';
import { createAllowances } from './call-allowance.ts';
import { findingOf, parseRepositoryName } from './discovered-job.ts';

/**
 * Finds the jobs in doubt, asks GitHub about each that is due, run by run, and writes the verdicts.
 * An answer that a delivery could give is written as a delivery is. A failure concerns one run.
 */
export async function lookUpJobs(context: SweepContext, pass: Pass): Promise<Outcome> {
  const { db, github, config, events } = context;
  const { lookUpsOfPass: batch, secondLookMs } = config;
  const marked = await markJobsInDoubt(db, config);
  const [recovered, silent] = [idsOf(marked, 'isRecovered'), idsOf(marked, 'isLost')];
  const unaskable = await failUnaskableJobs(db, config, github.appIds);
  const lost = [...silent, ...unaskable];
  events.jobsRecovered(recovered);
  events.jobsFailedUnasked(lost);
  const counts = {
    // By verdict.
    stated: 0,
    queued: 0,
    requeued: 0,
    answered: 0,
    gone: 0,
    failed: 0,
    /** Stuck jobs: counts the recovery, looks the job up, wakes the matcher. */
    recovered: recovered.length,
    /** Other jobs newly in doubt: only looks them up. */
    suspected: marked.length - recovered.length - silent.length,
    /** Stuck jobs that failed, since GitHub has not answered for too long. */
    lost: lost.length,
    jobs: 0,
    runs: 0,
    /** Runs for which GitHub did not answer, or was not asked: the budget was used up. */
    unanswered: 0,
    /** The unanswered runs that GitHub does not let us see. */
    hidden: 0,
    /** Unexplained ends and stops without a job that no longer keep a waiting job from a worker. */
    graces: 0,
  };
  const pools = await currentPoolsDocument(db);
  if (pools === undefined) return done(counts);
  const jobs = await findJobsToLookUp(db, { batch, secondLookMs, appIds: github.appIds });
  const onUnanswered = (asked: Unanswered, failure: GitHubFailure | undefined) => {
    if (isHidden(failure)) counts.hidden++;
    events.notAnswered('look-up-jobs', asked, failure);
  };
  const askFor = createAskGitHub(context, pass, onUnanswered);
  const allowanceOf = createAllowances(github.budgetOf, config.lookUpBudgetPercent);
  const runs = [...Map.groupBy(jobs, ({ repoId, runId }) => `${repoId} ${runId}`).values()];
  await pass.walk(runs as [JobToLookUp, ...JobToLookUp[]][], {
    entityOf: ([{ entityId }]) => entityId,
    async visit(ofRun, turn) {
      turn.isUnasked = !allowanceOf(ofRun[0].installationId).take();
      const notes = turn.isUnasked
        ? undefined
        : await lookUpRun(context, pools, askFor(ofRun[0], turn), ofRun);
      const isAnswered = Array.isArray(notes);
      counts[isAnswered ? 'runs' : 'unanswered']++;
      if (isAnswered) for (const { verdict } of notes) counts[verdict.kind]++;
      return notes !== undefined;
    },
    postpone: (ofRun) =>
      postponeLookUps(
        db,
        ofRun.map(({ jobId }) => jobId),
        config.lookUpRetryMs,
      ),
  });
  counts.graces = await endGraces(context);
  counts.jobs = jobs.length;
  const isFull = marked.length >= batch || (counts.runs > 0 && jobs.length >= batch);
  return done(counts, [...(isFull ? [lookUpJobsTask] : []), ...repairIf(counts.hidden > 0)]);
}

/**
 * If GitHub hides an object, our installations may be out of date: check them soon, but not in
 * every pass.
 */
export const repairIf = (isNeeded: boolean): NewTask[] =>
  isNeeded ? [{ ...sweepTask('check-apps'), dueInMs: REPAIR_WAIT_MS }] : [];
const REPAIR_WAIT_MS = 600_000;

const idsOf = (jobs: readonly JobInDoubt[], which: 'isRecovered' | 'isLost'): number[] =>
  jobs.filter((job) => job[which]).map(({ jobId }) => jobId);

/**
 * Ends the graces that GitHub's answers have settled. A worker that succeeded while GitHub kept all
 * jobs queued had no job: that counts as a failure of its key. One transaction per entity and
 * pool, so that the matcher, woken to replace the workers, finds the failures.
 */
async function endGraces({ db, config, events }: SweepContext): Promise<number> {
  const rules = failureRules(config);
  const endSome = () =>
    db.transaction().execute(async (trx) => {
      const ended = await endJoblessGraces(trx, config.lookUpsPerKey);
      const jobless = ended.filter(({ isStopped }) => !isStopped);
      for (const { podName } of jobless) {
        const message = `the runner ${podName} succeeded without a job while GitHub still had jobs of its pool queued`;
        await noteKeyFailure(trx, { podName, failureClass: 'no_job', message }, rules);
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

/**
 * The verdicts on one run's jobs. Undefined if GitHub did not answer; `hidden` if it does not show
 * us the repository.
 */
async function lookUpRun(
  context: SweepContext,
  pools: CurrentPools,
  ask: Ask,
  jobs: readonly [JobToLookUp, ...JobToLookUp[]],
): Promise<LookUpNote[] | 'hidden' | undefined> {
  const { repoId, runId, login, repoFullName } = jobs[0];
  const name = { owner: login, repo: parseRepositoryName(repoFullName)?.repo ?? repoFullName };
  let isInvisible = false;
  const judged = await ask(`run ${runId} of repository ${repoId}`, async (client) => {
    const answer = await askRun(client, { runId, repoId, name });
    if (answer.kind === 'invisible') {
      isInvisible = true;
      return undefined;
    }
    return judgeAll(client, answer, jobs);
  });
  if (isInvisible) await noteHiddenJobs(context.db, jobs);
  if (judged === undefined) return isInvisible ? 'hidden' : undefined;
  for (const [jobId, error] of judged.unread)
    context.events.answerUnusable('look-up-jobs', `job ${jobId}`, error);
  if (judged.notes.length === 0) return undefined;
  await settle(context, pools, judged);
  const unread = [...judged.unread.keys()];
  if (unread.length > 0) await postponeLookUps(context.db, unread, context.config.lookUpRetryMs);
  return judged.notes;
}

/** The verdicts on jobs. An answer that cannot be read (`unread`) does not block the others. */
interface Judged {
  readonly notes: LookUpNote[];
  readonly findings: Finding[];
  readonly unread: Map<number, unknown>;
}

async function judgeAll(
  client: InstallationClient,
  answer: Exclude<RunAnswer, { kind: 'invisible' }>,
  jobs: readonly JobToLookUp[],
): Promise<Judged> {
  const { owner, repo } = answer.name;
  const judged: Judged = { notes: [], findings: [], unread: new Map() };
  let run: Promise<GitHubRun | undefined> | undefined;
  for (const job of jobs) {
    const listed = answer.kind === 'run' ? answer.jobs.get(job.jobId) : undefined;
    // Before it fails as unknown to GitHub, it is asked for by its own id.
    const found =
      listed ?? (job.wasGone ? await findJob(client, answer.name, job.jobId) : undefined);
    if (found === undefined) {
      judged.notes.push({ ...job, verdict: judgeJob(job, { kind: 'gone' }) });
      continue;
    }
    // Only a job that has stayed queued needs to know whether its run is over: one call for all of
    // them.
    const mayBeOver = found.status === 'queued' && found.conclusion === null && job.wasQueued;
    const runEnd = mayBeOver
      ? endOfRun(await (run ??= findRun(client, answer.name, found.runId)), found)
      : undefined;
    const { status, conclusion } = found;
    const verdict = judgeJob(job, { kind: 'job', status, conclusion, runEnd });
    try {
      const at = { ...job, repoFullName: `${owner}/${repo}`, isPublic: null };
      if (verdict.kind === 'stated') judged.findings.push(findingOf(found, verdict.action, at));
      judged.notes.push({ ...job, verdict });
    } catch (error) {
      judged.unread.set(job.jobId, error);
    }
  }
  return judged;
}

/**
 * How the run of a queued job ended; a later attempt ends it without a conclusion. Undefined: the
 * run goes on.
 */
function endOfRun(
  run: GitHubRun | undefined,
  job: Pick<GitHubJob, 'runAttempt'>,
): { readonly conclusion: string | null } | undefined {
  if (run === undefined) return undefined;
  if (run.attempt > job.runAttempt) return { conclusion: null };
  return run.status === 'completed' ? { conclusion: run.conclusion } : undefined;
}

/**
 * In one transaction, notes first: they are fenced by the rows as read, and GitHub's statements are
 * not.
 */
async function settle(
  { db, config, events }: SweepContext,
  pools: CurrentPools,
  { notes, findings }: Judged,
) {
  const looks = { secondLookMs: config.secondLookMs, longestLookMs: config.heldLookUpLongestMs };
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
