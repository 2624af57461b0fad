import { askForLookUps } from '@paddock/db/jobs/look-ups';
import { type Finding, recordFindings } from '@paddock/db/jobs/record-jobs';
import {
  findKnownJobs,
  type ListedRepository,
  type RepositoryToList,
  saveRepositoryListing,
  type SeenOfRepository,
  type SeenRun,
} from '@paddock/db/jobs/repositories';
import { untilStored } from '@paddock/db/jobs/store-jobs';
import type { CurrentPools } from '@paddock/db/pools/pools-documents';
import { judgeDiscoveredJob } from '@paddock/domain/jobs/judge-job';
import type { InstallationClient } from '@paddock/github/connect';
import { foundOrNot } from '@paddock/github/errors';
import { findRepository, type GitHubRepository } from '@paddock/github/repositories';
import type { SweepContext } from '../sweep.ts';
import type { Allowance } from './call-allowance.ts';
import { findingOf, parseRepositoryName } from './discovered-job.ts';
import {
  type ListJobsOptions,
  listJobsOfRuns,
  listUnfinishedRuns,
  orderRuns,
  type UnfinishedRuns,
  unreadRun,
} from './list-runs.ts';

/** How one repository is read. */
interface Reading extends ListJobsOptions {
  readonly pools: CurrentPools;
}

/**
 * Compares a repository's unfinished runs with our rows and writes the news. Undefined, with
 * nothing written, if GitHub hides the repository or does not answer. Throws what `ask` throws.
 */
export async function discoverRepository(
  context: SweepContext,
  { pools, ask, allowance, most }: Reading,
  repository: RepositoryToList,
) {
  const { db, config } = context;
  const { repoId, entityId, appId, seenBefore } = repository;
  const seen = await ask(undefined, (client) => see(client, repository, allowance));
  if (seen === undefined) return undefined;
  const { view } = seen;
  const inTurn = orderRuns(view.runIds, runsSeenBefore(seenBefore, pools.version));
  const found = await listJobsOfRuns({ name: view.name, inTurn }, { ask, allowance, most });
  const { jobs, unanswered } = found;
  const known = await findKnownJobs(
    db,
    entityId,
    jobs.map(({ id }) => id),
  );
  const judged = jobs.map((job) => ({ job, verdict: judgeDiscoveredJob(known.get(job.id), job) }));
  const news = judged.flatMap(({ job, verdict }) =>
    verdict.kind === 'news' ? [{ job, action: verdict.action }] : [],
  );
  const inDoubt = judged
    .filter(({ verdict }) => verdict.kind === 'look_up')
    .map(({ job }) => job.id);
  const counts = {
    runs: view.runIds.length,
    jobs: jobs.length,
    /** Lists of runs that had not changed. */
    unchanged: view.unchanged,
    /** Jobs that our rows lacked, or that are further on than our rows. */
    found: news.length,
    /** Jobs to look up: GitHub calls them queued, our rows do not. */
    inDoubt: inDoubt.length,
    /** Runs for which GitHub did not answer. */
    unanswered,
    /** False if something could not be read. */
    isComplete: view.isComplete && found.isComplete,
  };

  let { today } = seen;
  const unread = new Set<number>();
  if (news.length > 0) {
    // Whether the repository is public decides the pool, and it may be renamed: ask only if there
    // is news.
    today ??= await ask(undefined, (client) => findRepository(client, repoId));
    if (today === undefined) return undefined;
    const at = { ...repository, repoFullName: fullNameOf(today), isPublic: !today.private };
    const findings: Finding[] = [];
    for (const { job, action } of news) {
      // A job that cannot be parsed does not block the others.
      const finding = await ask(`job ${job.id}`, () =>
        Promise.resolve().then(() => findingOf(job, action, at)),
      );
      if (finding === undefined) unread.add(job.runId);
      else findings.push(finding);
    }
    counts.isComplete &&= unread.size === 0;
    counts.found = await record(context, pools, findings);
  }
  await askForLookUps(db, inDoubt);
  const look = {
    repoId,
    entityId,
    appId,
    fullName: today === undefined ? repository.fullName : fullNameOf(today),
    isActive: counts.runs > 0,
    isFull: view.isFull,
    seen: {
      pools: pools.version,
      ...view.seen,
      runs: found.runs.map((run) => (unread.has(run.id) ? unreadRun(run.id) : run)),
    },
  };
  await saveRepositoryListing(db, look, config);
  return counts;
}

/** With new pools, an unchanged job may be news, so all runs are read again. */
const runsSeenBefore = (
  { pools, runs = [] }: SeenOfRepository,
  version: number,
): readonly SeenRun[] => (pools === version ? runs : runs.map(({ id }) => unreadRun(id)));

/** The repository's runs under its last known name, or else, looked up by id, under its name now. */
async function see(
  client: InstallationClient,
  repository: RepositoryToList,
  allowance: Allowance,
): Promise<{ view: UnfinishedRuns; today: GitHubRepository | undefined } | undefined> {
  const lastName = parseRepositoryName(repository.fullName ?? '');
  if (lastName !== undefined) {
    const view = await foundOrNot(() =>
      listUnfinishedRuns(client, lastName, repository, allowance),
    );
    if (view !== undefined) return { view, today: undefined };
  }
  const today = await findRepository(client, repository.repoId);
  if (today === undefined) return undefined;
  const name = { owner: today.owner, repo: today.name };
  const view = await listUnfinishedRuns(client, name, repository, allowance);
  return view && { view, today };
}

/** Writes the findings. Returns how many changed a row. */
async function record(
  { db, events }: SweepContext,
  pools: CurrentPools,
  findings: readonly ReturnType<typeof findingOf>[],
): Promise<number> {
  const stored = await untilStored(() =>
    db.transaction().execute((trx) => recordFindings(trx, findings, pools)),
  );
  events.workersMisused(stored);
  const changed = stored.flatMap(({ jobId, before, changed: isNews }, index) => {
    const event = findings[index]?.event;
    return isNews && event !== undefined ? [{ event, jobId, before }] : [];
  });
  events.jobsDiscovered(changed.map(({ event, jobId }) => ({ event, jobId })));
  const misjudged = changed.filter(({ before }) => before === 'failed').map(({ jobId }) => jobId);
  if (misjudged.length > 0) events.jobsMisjudged(misjudged);
  return changed.length;
}

/** What is kept of a repository that an installation shows. */
export const listed = ({ id, owner, name, pushedAt }: GitHubRepository): ListedRepository => ({
  repoId: id,
  fullName: `${owner}/${name}`,
  pushedAt,
});

const fullNameOf = ({ owner, name }: GitHubRepository): string => `${owner}/${name}`;
