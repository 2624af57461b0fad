import {
  findDueRepositories,
  findUnlistedInstallations,
  forgetRepositories,
  type ListedRepository,
  noteActiveRepositories,
  noteListedRepositories,
  postponeRepository,
} from '@paddock/db/jobs/repositories';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { GitHub } from '@paddock/github/connect';
import type { GitHubFailure } from '@paddock/github/errors';
import { type GitHubRepository, listRepositories } from '@paddock/github/repositories';
import type { ReconcilerEvents } from '../events.ts';
import { createAskGitHub, isHidden, type Unanswered } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { createAllowances } from './call-allowance.ts';
import {
  discoverRepository,
  type DiscoverRepositoryOptions,
  type RepositoryCounts,
} from './discover-repository.ts';
import { type AskOne, MOST_RUNS } from './list-runs.ts';

export interface DiscoverJobsOptions extends Pick<DiscoverRepositoryOptions, 'db' | 'turns'> {
  github: GitHub;
  events: Pick<
    ReconcilerEvents,
    'jobsDiscovered' | 'jobsMisjudged' | 'notAnswered' | 'workersMisused'
  >;
  /** The Apps that are configured here. */
  appIds: readonly number[];
  /** Most active repositories of an installation in one pass, and as many resting ones. */
  most: number;
  /** The share of an installation's remaining budget that one pass may use. */
  budgetPercent: number;
  /** How often an installation's repositories are listed. */
  listEveryMs: number;
  /** Most repositories that GitHub is asked about at once. */
  atOnce?: number;
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
}

/** Most installations whose repositories one pass lists. */
const MOST_INSTALLATIONS = 100;

/** Resting repositories have a share of their own, half of that of active ones. */
export const RESTING_PART = 0.5;

/**
 * Reads the unfinished runs of repositories for jobs that no delivery announced: active
 * repositories every few minutes, all others as often as the budget allows. A failure concerns one repository. Once its share of the
 * budget is used up, an installation's other repositories wait.
 */
export async function discoverJobs(
  options: DiscoverJobsOptions,
  pass: Pass,
): Promise<DiscoverJobsCounts> {
  const { db, appIds, most, turns, github, atOnce = 1 } = options;
  const { walk } = pass;
  const counts = { runs: 0, jobs: 0, unchanged: 0, found: 0, inDoubt: 0 };
  const all: DiscoverJobsCounts = {
    listed: 0,
    repositories: 0,
    resting: 0,
    ...counts,
    incomplete: 0,
    unanswered: 0,
    hidden: 0,
  };
  const pools = await currentPoolsDocument(db);
  if (pools === undefined) return all;
  const onUnanswered = (asked: Unanswered, failure: GitHubFailure | undefined) => {
    if (isHidden(failure)) all.hidden++;
    options.events.notAnswered('discover-jobs', asked, failure);
  };
  const askFor = createAskGitHub({ db, github, pass, onUnanswered });
  const { budgetPercent } = options;
  const allowanceOf = createAllowances(github.budgetOf, budgetPercent);
  const restingAllowanceOf = createAllowances(github.budgetOf, budgetPercent * RESTING_PART);
  await noteActiveRepositories(db, turns);
  await forgetRepositories(db);
  const { resting: except } = pass;
  const unlisted = await findUnlistedInstallations(db, {
    everyMs: options.listEveryMs,
    appIds,
    most: MOST_INSTALLATIONS,
    except,
  });
  await walk(unlisted, {
    entityOf: ({ entityId }) => entityId,
    keyOf: ({ installationId }) => String(installationId),
    atOnce,
    async visit(installation, turn) {
      turn.isUnasked = !allowanceOf(installation.installationId).take();
      const repositories = turn.isUnasked
        ? undefined
        : await askFor(installation, turn)('the repositories of an installation', listRepositories);
      all[repositories === undefined ? 'unanswered' : 'listed']++;
      if (repositories !== undefined)
        await noteListedRepositories(
          db,
          installation,
          repositories.filter(({ canRun }) => canRun).map(listed),
          turns.activeMs,
        );
      return repositories !== undefined;
    },
  });
  const { activeMs } = turns;
  await walk(await findDueRepositories(db, { most, activeMs, appIds }), {
    entityOf: ({ entityId }) => entityId,
    atOnce,
    async visit(repository, turn) {
      const { isResting } = repository;
      const allowance = (isResting ? restingAllowanceOf : allowanceOf)(repository.installationId);
      turn.isUnasked = !allowance.take();
      if (turn.isUnasked) return false;
      allowance.giveBack();
      const itself = `repository ${repository.repoId}`;
      const askIt = askFor(repository, turn);
      const ask: AskOne = (what, call) =>
        askIt(what === undefined ? itself : `${what} of ${itself}`, call);
      const seen = await discoverRepository(
        { ...options, mostRuns: MOST_RUNS, pools, allowance, ask },
        repository,
      );
      if (seen === undefined) {
        all.unanswered++;
        return false;
      }
      all.repositories++;
      if (isResting) all.resting++;
      if (!seen.isComplete) all.incomplete++;
      for (const key of ['runs', 'jobs', 'unchanged', 'found', 'inDoubt', 'unanswered'] as const)
        all[key] += seen[key];
      return true;
    },
    postpone: ({ repoId }) => postponeRepository(db, repoId, turns),
  });
  return all;
}

/** What is kept of a repository that an installation shows. */
export const listed = ({ id, owner, name, pushedAt }: GitHubRepository): ListedRepository => ({
  repoId: id,
  fullName: `${owner}/${name}`,
  pushedAt,
});
