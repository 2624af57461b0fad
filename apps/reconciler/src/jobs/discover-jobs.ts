import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import {
  findDueRepositories,
  forgetRepositories,
  noteActiveRepositories,
  postponeRepository,
} from '@paddock/db/jobs/repositories';
import {
  findUnlistedInstallations,
  noteListedRepositories,
  type UnlistedInstallation,
} from '@paddock/db/jobs/unlisted-installations';
import type { BreakerRules } from '@paddock/db/breakers/note-failure';
import type { GitHub } from '@paddock/github/connect';
import type { GitHubFailure } from '@paddock/github/errors';
import { listRepositories } from '@paddock/github/repositories';
import { type AskGitHub, createAskGitHub, isHidden, type Unanswered } from '../ask-github.ts';
import { type Allowance, createAllowances } from './call-allowance.ts';
import {
  discoverRepository,
  type DiscoverRepositoryOptions,
  type RepositoryCounts,
} from './discover-repository.ts';
import type { ReconcilerEvents } from '../events.ts';
import { type AskOne, MOST_RUNS } from './list-jobs-of-runs.ts';

export interface DiscoverJobsOptions extends Pick<
  DiscoverRepositoryOptions,
  'db' | 'turns' | 'dryRun'
> {
  github: GitHub;
  events: Pick<
    ReconcilerEvents,
    'jobsDiscovered' | 'jobsMisjudged' | 'notAnswered' | 'workersMisused'
  >;
  /** The Apps that are configured here. */
  appIds: readonly number[];
  /** Most active repositories, most resting ones, and most installations in one pass. */
  most: number;
  /** The share of an installation's remaining budget that one pass may use. */
  budgetPercent: number;
  breakerRules: BreakerRules;
  /** How often an installation's repositories are listed. */
  listEveryMs: number;
}

export interface DiscoverJobsCounts extends Omit<RepositoryCounts, 'isComplete'> {
  /** Installations whose repositories were listed. */
  listed: number;
  /** Repositories that were read, and how many of them rest. */
  repositories: number;
  resting: number;
  /** Repositories read in part: the budget ended, or GitHub did not answer for a run. */
  incomplete: number;
  /** Repositories, runs and installations for which GitHub did not answer. */
  unanswered: number;
  /** The unanswered ones that GitHub does not let us see. */
  hidden: number;
  full: boolean;
}

/**
 * Resting repositories go first and may use half of the share: so active ones cannot starve them.
 */
const RESTING_PART = 0.5;

/**
 * Reads the unfinished runs of repositories for jobs that no delivery announced: active
 * repositories often, all others in turn. A failure concerns one repository, but once GitHub
 * refuses an installation, or its share of the budget is used up, its other repositories wait.
 */
export async function discoverJobs(
  options: DiscoverJobsOptions,
  signal: AbortSignal,
): Promise<DiscoverJobsCounts> {
  const { db, appIds, most, turns, budgetPercent, breakerRules, github, dryRun } = options;
  const counts = { runs: 0, jobs: 0, unchanged: 0, found: 0, inDoubt: 0 };
  const all: DiscoverJobsCounts = {
    listed: 0,
    repositories: 0,
    resting: 0,
    ...counts,
    incomplete: 0,
    unanswered: 0,
    hidden: 0,
    full: false,
  };
  const pools = await currentPoolsDocument(db);
  if (pools === undefined) return all;
  let hidden = 0;
  const onUnanswered = (asked: Unanswered, failure: GitHubFailure | undefined) => {
    if (isHidden(failure)) hidden++;
    options.events.notAnswered('discover-jobs', asked, failure);
  };
  const ask = createAskGitHub({ db, github, breakerRules, dryRun, onUnanswered, signal });
  const allowanceOf = createAllowances(github.budgetOf, budgetPercent);
  if (!dryRun) {
    await noteActiveRepositories(db, turns);
    await forgetRepositories(db);
  }
  for (const installation of await findUnlistedInstallations(db, {
    everyMs: options.listEveryMs,
    appIds,
    most,
  })) {
    if (signal.aborted) break;
    const allowance = allowanceOf(installation.installationId);
    const isListed = await listInstallation(options, installation, { ask, allowance });
    all[isListed ? 'listed' : 'unanswered']++;
  }
  const which = { most, activeMs: turns.activeMs, appIds };
  const resting = await findDueRepositories(db, { ...which, isActive: false });
  const active = await findDueRepositories(db, { ...which, isActive: true });
  for (const [index, repository] of [...resting, ...active].entries()) {
    if (signal.aborted) break;
    const isResting = index < resting.length;
    const whole = allowanceOf(repository.installationId);
    const allowance = isResting ? { ...whole, take: () => whole.take(RESTING_PART) } : whole;
    const itself = `repository ${repository.repoId}`;
    const askIt: AskOne = (what, call) =>
      ask(repository, what === undefined ? itself : `${what} of ${itself}`, call, itself);
    const seen = await discoverRepository(
      { ...options, mostRuns: MOST_RUNS, pools, allowance, ask: askIt },
      repository,
    );
    if (signal.aborted) break;
    if (seen === undefined) {
      all.unanswered++;
      if (!dryRun) await postponeRepository(db, repository.repoId, turns);
      continue;
    }
    all.repositories++;
    if (isResting) all.resting++;
    if (!seen.isComplete) all.incomplete++;
    for (const key of ['runs', 'jobs', 'unchanged', 'found', 'inDoubt', 'unanswered'] as const)
      all[key] += seen[key];
  }
  return { ...all, hidden, full: active.length >= most };
}

/** Lists an installation's repositories. False if GitHub did not answer. */
async function listInstallation(
  { db, turns, dryRun }: DiscoverJobsOptions,
  installation: UnlistedInstallation,
  { ask, allowance }: { ask: AskGitHub; allowance: Allowance },
): Promise<boolean> {
  if (!allowance.take()) return false;
  const repositories = await ask(
    installation,
    'the repositories of an installation',
    listRepositories,
  );
  if (repositories === undefined) return false;
  const listed = repositories
    .filter(({ canRun }) => canRun)
    .map(({ id, owner, name, pushedAt }) => ({
      repoId: id,
      fullName: `${owner}/${name}`,
      pushedAt,
    }));
  if (!dryRun) await noteListedRepositories(db, installation, listed, turns.activeMs);
  return true;
}
