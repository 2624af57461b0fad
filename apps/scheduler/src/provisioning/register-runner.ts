import { saveRunnerGroup } from '@paddock/db/matching/stored-rules';
import { noteKeySuccess } from '@paddock/db/workers/failing-keys';
import { endRefusals } from '@paddock/db/entities/refusals';
import { noteRegistrationBudget } from '@paddock/db/entities/waits';
import {
  clearRegistrationStarted,
  markRegistrationStarted,
  saveRegistration,
  type WorkerToProvision,
} from '@paddock/db/workers/workers';
import { servesRepository } from '@paddock/domain/pools/gate';
import { groupExcess, groupToMake, isHeldToItsGroup } from '@paddock/domain/pools/runner-group';
import type { Pool } from '@paddock/domain/pools/pool';
import type { InstallationClient } from '@paddock/github/connect';
import { classifyGitHubError, UnaskedError } from '@paddock/github/errors';
import { DEFAULT_RUNNER_GROUP_ID, type RunnerGroup } from '@paddock/github/runner-groups';
import { createJitConfig, type RegistrationScope } from '@paddock/github/runners';
import { done, type Outcome, snooze } from '@paddock/queue/kind';
import { scopeOf, unseenRepository } from '../scope-of.ts';
import { awaitAfterRefusal } from '../service-away.ts';
import { hasTimeLeft, requireTimeLeft, retryWhileAway, type TaskRun } from '../task-run.ts';
import { afterGitHubFailure } from './after-github-failure.ts';
import { failWorker, type Provisioning } from './provisioning.ts';

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
  run: TaskRun,
): Promise<Registered> {
  const { task, signal } = run;
  const { db, github, events } = parts;
  const client = github.asInstallation(worker, { signal, correlationId: worker.deliveryGuid });
  let marked = false;
  let jit: { runnerId: number; jitConfig: string };
  try {
    requireTimeLeft(task);
    const place = await findPlace(parts, worker, pool, client);
    if ('instead' in place) return place;
    requireTimeLeft(task);
    marked = await markRegistrationStarted(db, worker.podName);
    if (!marked) return { instead: snooze(RETRY_MS, NOT_MARKED) };
    // The process may have stood still during the mark. The run that follows counts on no
    // registration made after this.
    if (!hasTimeLeft(task)) {
      await clearRegistrationStarted(db, worker.podName);
      return { instead: snooze(RETRY_MS, 'too little of the claim was left to register a runner') };
    }
    const { scope, runnerGroupId } = place;
    const { podName: name } = worker;
    jit = await createJitConfig(client, scope, { name, labels: pool.labels, runnerGroupId });
  } catch (error) {
    // PostgreSQL went away between the mark and the call, so the call was not made.
    if (error instanceof UnaskedError && marked) {
      await retryWhileAway(run, () => clearRegistrationStarted(db, worker.podName));
      return { instead: snooze(RETRY_MS, error.message) };
    }
    const failure = classifyGitHubError(error);
    if (failure.operation === 'unknown' && !marked) throw error;
    return { instead: await afterGitHubFailure(parts, worker, failure, marked) };
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

/** Where the runner registers, or how the task ends because it may not. */
type Place =
  | { readonly scope: RegistrationScope; readonly runnerGroupId: number }
  | { readonly instead: Outcome };

async function findPlace(
  parts: Provisioning,
  worker: WorkerToProvision,
  pool: Pool,
  client: InstallationClient,
): Promise<Place> {
  const { db, runnerGroups } = parts;
  const scope = await scopeOf(worker, client);
  if (scope === undefined)
    return { instead: await awaitAfterRefusal(db, worker, unseenRepository(worker)) };
  if (scope.kind === 'repository') {
    const fullName = `${scope.owner}/${scope.repo}`;
    if (servesRepository(pool, fullName)) return { scope, runnerGroupId: DEFAULT_RUNNER_GROUP_ID };
    const message = `The pool ${pool.name} does not serve ${fullName}.`;
    return { instead: await failWorker(parts, worker, { reason: 'pool_closed', message }) };
  }
  // A person may have corrected the group since.
  if (worker.isUnserved) runnerGroups.forget(scope.owner);
  const group = await runnerGroups.ensure(client, scope.owner, groupToMake(pool));
  const excess = await checkRunnerGroup(parts, worker, { pool, group });
  if (excess === undefined) return { scope, runnerGroupId: group.id };
  const why = { reason: 'runner_group_open', message: `${excess}.` } as const;
  return { instead: await failWorker(parts, worker, why) };
}

/** An operator has to change the group or the pool: that takes longer. */
const GROUP_RECHECK_MS = 15 * 60_000;

/**
 * The pools that each reading of a group has admitted, so that one reading is saved once. Refusals
 * are always saved.
 */
const admitted = new WeakMap<RunnerGroup, Set<string>>();

/**
 * Saves and logs which jobs the organisation's runner group lets in beyond those that the pool
 * serves. Returns that as a sentence if it forbids registering the pool's runners there, and
 * undefined if they may register. A pool that names the default group is not checked: loading the
 * pools file has warned of that.
 */
async function checkRunnerGroup(
  { db, runnerGroups, events }: Provisioning,
  { entityId, login }: WorkerToProvision,
  { pool, group }: { pool: Pool; group: RunnerGroup },
): Promise<string | undefined> {
  if (pool.runnerGroup.toLowerCase() === 'default') return undefined;
  const pools = admitted.get(group) ?? new Set<string>();
  admitted.set(group, pools);
  const key = JSON.stringify(pool);
  if (pools.has(key)) return undefined;
  const excess = groupExcess(pool, group.access);
  const isHeld = excess !== undefined && isHeldToItsGroup(pool);
  const isNews = await saveRunnerGroup(db, {
    entityId,
    pool: pool.name,
    name: pool.runnerGroup,
    access: group.access,
    excess,
    pauseMs: isHeld ? GROUP_RECHECK_MS : undefined,
  });
  if (isNews && excess !== undefined)
    events[isHeld ? 'runnerGroupHeld' : 'runnerGroupOpen']({ pool: pool.name, org: login, excess });
  if (!isHeld) {
    pools.add(key);
    return undefined;
  }
  // The next worker that tries reads the group from GitHub again.
  runnerGroups.forget(login);
  return excess;
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
