import {
  findDueRepositories,
  findUnlistedInstallations,
  forgetRepositories,
  noteActiveRepositories,
  noteListedRepositories,
  postponeRepository,
} from '@paddock/db/jobs/repositories';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { lookUpJobsTask, DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import type { GitHubFailure } from '@paddock/github/errors';
import { listRepositories } from '@paddock/github/repositories';
import { done, type Outcome } from '@paddock/queue/kind';
import type { Unanswered } from '../events.ts';
import { createAskGitHub, isHidden } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';
import { createAllowances } from './call-allowance.ts';
import { discoverRepository, listed } from './discover-repository.ts';
import { type AskOne, MOST_RUNS } from './list-runs.ts';
import { repairIf } from './look-up-jobs.ts';
import { resync } from './resync.ts';

/** Most installations whose repositories one pass lists. */
const MOST_INSTALLATIONS = 100;

/** Resting repositories have a share of their own, half of that of active ones. */
const RESTING_PART = 0.5;

/**
 * Reads the unfinished runs of repositories for jobs that no delivery announced: active
 * repositories every few minutes, all others as often as the budget allows. A failure concerns one
 * repository. Once its share of the budget is used up, an installation's other repositories wait.
 */
export async function discoverJobs(context: SweepContext, pass: Pass): Promise<Outcome> {
  if (pass.task.subject.id !== DISCOVER_JOBS) return resync(context, pass);
  const { db, github, config } = context;
  const { appIds } = github;
  const most = Math.ceil((config.readsOfMinute * config.discoverJobsEverySeconds) / 60);
  const all = {
    /** Installations whose repositories were listed. */
    listed: 0,
    /** Repositories that were read, and how many of them rest. */
    repositories: 0,
    resting: 0,
    runs: 0,
    jobs: 0,
    unchanged: 0,
    found: 0,
    inDoubt: 0,
    /** Repositories read in part: the budget ended, or GitHub did not answer for a run. */
    incomplete: 0,
    /** Repositories, runs and installations for which GitHub did not answer. */
    unanswered: 0,
    /** The unanswered ones that GitHub does not let us see. */
    hidden: 0,
  };
  const pools = await currentPoolsDocument(db);
  if (pools === undefined) return done(all);
  const onUnanswered = (asked: Unanswered, failure: GitHubFailure | undefined) => {
    if (isHidden(failure)) all.hidden++;
    context.events.notAnswered('discover-jobs', asked, failure);
  };
  const askFor = createAskGitHub(context, pass, onUnanswered);
  const budgetPercent = config.discoverBudgetPercent;
  const allowanceOf = createAllowances(github.budgetOf, budgetPercent);
  const restingAllowanceOf = createAllowances(github.budgetOf, budgetPercent * RESTING_PART);
  await noteActiveRepositories(db, config);
  await forgetRepositories(db);
  const unlisted = await findUnlistedInstallations(db, {
    everyMs: config.discoverListEveryMs,
    appIds,
    most: MOST_INSTALLATIONS,
    except: pass.resting,
  });
  await pass.walk(unlisted, {
    entityOf: ({ entityId }) => entityId,
    keyOf: ({ installationId }) => String(installationId),
    async visit(installation, turn) {
      turn.isUnasked = !allowanceOf(installation.installationId).take();
      const repositories = turn.isUnasked
        ? undefined
        : await askFor(installation, turn)('the repositories of an installation', listRepositories);
      all[repositories === undefined ? 'unanswered' : 'listed']++;
      if (repositories !== undefined)
        all.inDoubt += await noteListedRepositories(
          db,
          installation,
          repositories.filter(({ canRun }) => canRun).map(listed),
          config.activeMs,
        );
      return repositories !== undefined;
    },
  });
  const due = { most, activeMs: config.activeMs, appIds };
  await pass.walk(await findDueRepositories(db, due), {
    entityOf: ({ entityId }) => entityId,
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
      const asking = { most: MOST_RUNS, pools, allowance, ask };
      const seen = await discoverRepository(context, asking, repository);
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
    postpone: ({ repoId }) => postponeRepository(db, repoId, config),
  });
  return done(all, [...(all.inDoubt > 0 ? [lookUpJobsTask] : []), ...repairIf(all.hidden > 0)]);
}
