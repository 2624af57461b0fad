import { noteKeySuccess } from '@paddock/db/workers/failing-keys';
import { endRefusals, recordRefusal } from '@paddock/db/entities/refusals';
import { noteRegistrationBudget } from '@paddock/db/entities/waits';
import {
  clearRegistrationStarted,
  markRegistrationStarted,
  saveRegistration,
  type WorkerToProvision,
} from '@paddock/db/workers/workers';
import { servesRepository } from '@paddock/domain/pools/gate';
import { groupToMake } from '@paddock/domain/pools/runner-group';
import type { Pool } from '@paddock/domain/pools/pool';
import { classifyGitHubError, UnaskedError } from '@paddock/github/errors';
import { DEFAULT_RUNNER_GROUP_ID } from '@paddock/github/runner-groups';
import { createJitConfig } from '@paddock/github/runners';
import { done, type Outcome, snooze } from '@paddock/queue/outcome';
import { scopeOf, unseenRepository } from '../scope-of.ts';
import { awaitGitHub } from '../await-github.ts';
import { hasTimeLeft, requireTimeLeft, retryWhileAway, type TaskRun } from '../task-run.ts';
import { afterGitHubFailure } from './after-github-failure.ts';
import { checkRunnerGroup } from './check-runner-group.ts';
import { failWorker } from './fail-worker.ts';
import type { Provisioning } from './provisioning.ts';

const RETRY_MS = 1_000;
const NOT_MARKED =
  'the worker ended, another run has begun its registration, or its key was paused meanwhile';
/** With fewer registrations left than this, each run stores the number for the matcher. */
const SCARCE = 1_000;

/**
 * Either the JIT config, a secret that stays in this run's memory, or how the task ends without
 * one.
 */
export type Registered = { readonly jitConfig: string } | { readonly instead: Outcome };

/**
 * Registers the worker's runner at GitHub, once: one run marks the row, and only that run calls. If
 * GitHub's answer leaves open whether it has registered the runner, the row ends; after a refusal
 * the mark is cleared.
 */
export async function registerRunner(
  parts: Provisioning,
  worker: WorkerToProvision,
  pool: Pool,
  { task, signal }: TaskRun,
): Promise<Registered> {
  const { db, github, runnerGroups, events } = parts;
  const correlation = worker.deliveryGuid === null ? {} : { correlationId: worker.deliveryGuid };
  const client = github.asInstallation(worker, { signal, ...correlation });
  const run = { task, signal };
  let marked = false;
  let jit: { runnerId: number; jitConfig: string };
  try {
    requireTimeLeft(task);
    const scope = await scopeOf(worker, client);
    if (scope === undefined) return { instead: await awaitRepository(db, worker) };
    if (scope.kind === 'repository' && !servesRepository(pool, `${scope.owner}/${scope.repo}`)) {
      const message = `The pool ${pool.name} does not serve ${scope.owner}/${scope.repo}.`;
      return { instead: await failWorker(parts, worker, { reason: 'pool_closed', message }) };
    }
    const group =
      scope.kind === 'repository'
        ? undefined
        : await runnerGroups.ensure(client, scope.owner, groupToMake(pool));
    const excess = group && (await checkRunnerGroup(parts, worker, { pool, group }));
    if (excess !== undefined)
      return {
        instead: await failWorker(parts, worker, {
          reason: 'runner_group_open',
          message: `${excess}.`,
        }),
      };
    const runnerGroupId = group?.id ?? DEFAULT_RUNNER_GROUP_ID;
    requireTimeLeft(task);
    marked = await markRegistrationStarted(db, worker.podName);
    if (!marked) return { instead: snooze(RETRY_MS, NOT_MARKED) };
    // The process may have stood still during the mark. The run that follows counts on no
    // registration made after this.
    if (!hasTimeLeft(task)) {
      await clearRegistrationStarted(db, worker.podName);
      return { instead: snooze(RETRY_MS, 'too little of the claim was left to register a runner') };
    }
    jit = await createJitConfig(client, scope, {
      name: worker.podName,
      labels: pool.labels,
      runnerGroupId,
    });
  } catch (error) {
    // PostgreSQL went away between the mark and the call, so the call was not made.
    if (error instanceof UnaskedError && marked) {
      await retryWhileAway(run, () => clearRegistrationStarted(db, worker.podName));
      return { instead: snooze(RETRY_MS, error.message) };
    }
    const failure = classifyGitHubError(error);
    if (failure.operation === 'unknown' && !marked) throw error;
    return { instead: await afterGitHubFailure(parts, worker, failure, { task, marked }) };
  }
  const saved = await retryWhileAway(run, () =>
    saveRegistration(db, worker.podName, { runnerId: jit.runnerId, labels: pool.labels }),
  );
  await retryWhileAway(run, () => saveBudget(parts, worker));
  if (!saved) return { instead: done({ ended: 'the worker ended while it was being registered' }) };
  events.runnerRegistered(worker);
  await retryWhileAway(run, () => endRefusals(db, { ...worker, repoId: worker.scopeRepoId }));
  if (worker.isWatched)
    await retryWhileAway(run, () => noteKeySuccess(db, worker.podName, 'registered'));
  return { jitConfig: jit.jitConfig };
}

async function awaitRepository(
  db: Provisioning['db'],
  worker: WorkerToProvision,
): Promise<Outcome> {
  const refusal = unseenRepository(worker);
  const call = { ...worker, repoId: worker.scopeRepoId, jobId: worker.madeForJobId };
  await recordRefusal(db, 'scheduler', { call, refusal });
  return awaitGitHub(refusal);
}

async function saveBudget(
  { db, github }: Provisioning,
  { installationId }: WorkerToProvision,
): Promise<void> {
  const budget = github.budgetOf(installationId, 'actions_runner_registration');
  if (budget === undefined || budget.remaining >= SCARCE) return;
  await noteRegistrationBudget(db, {
    installationId,
    remaining: budget.remaining,
    resetAt: new Date(budget.resetAt),
  });
}
