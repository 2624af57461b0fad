import { holdBack } from '@paddock/db/breakers/note-failure';
import { noteSuccess } from '@paddock/db/breakers/breakers';
import { registrationBreakers, repositoryBreaker } from '@paddock/db/breakers/breaker-subjects';
import { noteRegistrationBudget } from '@paddock/db/matching/registration-budgets';
import { clearRegistrationStarted, markRegistrationStarted, saveRegistration, type WorkerToProvision } from '@paddock/db/workers/workers';
import { servesRepository } from '@paddock/domain/pools/gate';
import { groupToMake } from '@paddock/domain/pools/group-to-make';
import type { Pool } from '@paddock/domain/pools/pool';
import { classifyGitHubError, UnaskedError } from '@paddock/github/errors';
import { DEFAULT_RUNNER_GROUP_ID } from '@paddock/github/runner-groups';
import { createJitConfig } from '@paddock/github/runners';
import { done, type Outcome, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import { afterGitHubFailure } from './after-github-failure.ts';
import { type FailReason, failWorker } from './fail-worker.ts';
import { holdToGroup } from './hold-to-group.ts';
import { hasLease, requireLease } from '../require-lease.ts';
import type { Registering } from './registering.ts';
import { scopeOf } from '../scope-of.ts';
import { tryWhileAway } from './while-away.ts';

/** Either the JIT config, which is a secret and stays in this run's memory, or how the task ends without one. */
export type Registered = { readonly jitConfig: string } | { readonly instead: Outcome };

/**
 * Registers the worker's runner at GitHub, once: the mark in its row lets one run ask, ever. An answer that leaves open whether GitHub has
 * registered the runner ends the row; a refusal takes the mark back (C6). `isWatched`: something failed lately that a registration would prove
 * to work again.
 */
export async function registerRunner(
  parts: Registering,
  worker: WorkerToProvision,
  pool: Pool,
  { task, isWatched }: { task: Task; isWatched: boolean },
  signal: AbortSignal,
): Promise<Registered> {
  const { db, github, runnerGroups, events } = parts;
  const correlation = worker.deliveryGuid === null ? {} : { correlationId: worker.deliveryGuid };
  const client = github.asInstallation(worker, { signal, ...correlation });
  const run = { task, signal };
  let marked = false;
  let jit: { runnerId: number; jitConfig: string };
  try {
    requireLease(task);
    const scope = await scopeOf(worker, client);
    if (scope === undefined) return { instead: await awaitRepository(db, worker) };
    if (scope.kind === 'repository' && !servesRepository(pool, `${scope.owner}/${scope.repo}`)) {
      return { instead: await end(parts, worker, 'pool_closed', `The pool ${pool.name} does not serve ${scope.owner}/${scope.repo}.`) };
    }
    const group = scope.kind === 'repository' ? undefined : await runnerGroups.ensure(client, scope.owner, groupToMake(pool));
    const excess = group && (await holdToGroup(parts, worker, { pool, group }));
    if (excess !== undefined) return { instead: await end(parts, worker, 'runner_group_open', `${excess}.`) };
    const runnerGroupId = group?.id ?? DEFAULT_RUNNER_GROUP_ID;
    requireLease(task);
    marked = await markRegistrationStarted(db, worker.podName, { hasPassed: worker.isWatched });
    if (!marked) return { instead: snooze(LOOK_AGAIN_MS, NOT_MARKED) };
    // The process may have stood still over the mark: whoever has taken over does not count on a registration that comes only now.
    if (!hasLease(task)) {
      await clearRegistrationStarted(db, worker.podName);
      return { instead: snooze(LOOK_AGAIN_MS, 'too little of the lease was left to register a runner') };
    }
    jit = await createJitConfig(client, scope, { name: worker.podName, labels: pool.labels, runnerGroupId });
  } catch (error) {
    // PostgreSQL went away between the mark and the call, so the call was not made.
    if (error instanceof UnaskedError && marked) {
      await tryWhileAway(run, () => clearRegistrationStarted(db, worker.podName));
      return { instead: snooze(LOOK_AGAIN_MS, error.message) };
    }
    const failure = classifyGitHubError(error);
    if (failure.operation === 'unknown' && !marked) throw error;
    return { instead: await afterGitHubFailure(parts, worker, failure, { task, marked }) };
  }
  const saved = await tryWhileAway(run, () => saveRegistration(db, worker.podName, { runnerId: jit.runnerId, labels: pool.labels }));
  await tryWhileAway(run, () => noteBudget(parts, worker));
  if (!saved) return { instead: done({ ended: 'the worker ended while it was being registered' }) };
  events.registered(worker);
  if (isWatched) await tryWhileAway(run, () => noteSuccess(db, registrationBreakers(worker)));
  return { jitConfig: jit.jitConfig };
}

async function end(parts: Registering, worker: WorkerToProvision, reason: FailReason, message: string): Promise<Outcome> {
  await failWorker(parts, worker, { reason, message });
  return done({ ended: reason });
}

async function awaitRepository(db: Registering['db'], { scopeRepoId }: WorkerToProvision): Promise<Outcome> {
  const message = `GitHub knows no repository ${scopeRepoId}`;
  await holdBack(db, { subject: repositoryBreaker(scopeRepoId), failureClass: 'not_found', message }, GONE_REPOSITORY_MS);
  return snooze(GONE_REPOSITORY_MS, message);
}

const LOOK_AGAIN_MS = 1_000;
const NOT_MARKED = 'the worker ended, another run has begun its registration, or a breaker has opened meanwhile';
const GONE_REPOSITORY_MS = 15 * 60_000;
/** With fewer registrations left than this, what is left is written down after each, for the matcher to heed. */
const SCARCE = 1_000;

async function noteBudget({ db, github }: Registering, { installationId }: WorkerToProvision): Promise<void> {
  const budget = github.budgetOf(installationId, 'actions_runner_registration');
  if (budget === undefined || budget.remaining >= SCARCE) return;
  await noteRegistrationBudget(db, { installationId, remaining: budget.remaining, resetAt: new Date(budget.resetAt) });
}
