import { recordAuthFailure } from '@paddock/db/auth-failures';
import {
  type BreakerSubject,
  clusterBreaker,
  githubBreaker,
  installationBreaker,
  noteFailure,
  noteSuccess,
  passBreakers,
  poolBreaker,
} from '@paddock/db/breakers';
import type { Database } from '@paddock/db/tables';
import { clearRegistrationStarted, markRegistrationStarted, saveRegistration, type WorkerToProvision } from '@paddock/db/workers';
import type { Pool } from '@paddock/domain/pools-document';
import type { GitHub } from '@paddock/github/connect';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import { DEFAULT_RUNNER_GROUP_ID, type RunnerGroups } from '@paddock/github/runner-groups';
import { createJitConfig } from '@paddock/github/runners';
import { done, type Outcome, snooze } from '@paddock/queue/outcome';
import type { Task } from '@paddock/queue/task';
import type { Kysely } from 'kysely';
import type { SchedulerEvents } from './events.ts';
import { failWorker } from './fail-worker.ts';
import { requireLease } from './lease.ts';
import { repairInstallation } from './repair-installation.ts';
import { scopeOf } from './scope-of.ts';

export interface Registering {
  readonly db: Kysely<Database>;
  readonly github: GitHub;
  readonly runnerGroups: RunnerGroups;
  readonly events: SchedulerEvents;
}

/**
 * Either the JIT config, which is a secret and stays in this run's memory, or how the task ends without one. `isWatched`: something failed
 * lately that the pod's creation would prove to work again.
 */
export type Registered = { readonly jitConfig: string; readonly isWatched: boolean } | { readonly instead: Outcome };

/**
 * Registers the worker's runner at GitHub, once: the mark in its row lets one run ask, ever. An answer that leaves open whether GitHub has
 * registered the runner ends the row; a refusal takes the mark back (C6).
 */
export async function registerRunner(
  parts: Registering,
  worker: WorkerToProvision,
  pool: Pool,
  task: Task,
  signal: AbortSignal,
): Promise<Registered> {
  const { db, github, runnerGroups, events } = parts;
  const asked = [installationBreaker(worker.entityId), githubBreaker];
  const made = [poolBreaker(pool.name), clusterBreaker(worker.cluster)];
  const passage = await passBreakers(db, [...asked, ...made]);
  if (passage.waitMs > 0) return { instead: snooze(passage.waitMs, `held back after failures: ${passage.message}`) };

  const correlation = worker.deliveryGuid === null ? {} : { correlationId: worker.deliveryGuid };
  const client = github.asInstallation(worker.appId, worker.installationId, { signal, ...correlation });
  let marked = false;
  let jit: { runnerId: number; jitConfig: string };
  try {
    requireLease(task);
    const scope = await scopeOf(worker, client);
    if (scope === undefined) return { instead: snooze(GONE_REPOSITORY_MS, `GitHub knows no repository ${worker.scopeRepoId}`) };
    const runnerGroupId =
      scope.kind === 'repository' ? DEFAULT_RUNNER_GROUP_ID : await runnerGroups.ensure(client, scope.owner, groupOf(pool));
    requireLease(task);
    marked = await markRegistrationStarted(db, worker.podName);
    if (!marked) return { instead: snooze(LOOK_AGAIN_MS, 'the worker ended, or another run has begun its registration') };
    jit = await createJitConfig(client, scope, { name: worker.podName, labels: pool.labels, runnerGroupId });
  } catch (error) {
    const failure = classifyGitHubError(error);
    if (failure.operation === 'unknown' && !marked) throw error;
    return { instead: await afterFailure(parts, worker, failure, marked) };
  }
  const saved = await saveRegistration(db, worker.podName, { runnerId: jit.runnerId, labels: pool.labels });
  if (!saved) return { instead: done({ ended: 'the worker ended while it was being registered' }) };
  events.registered(worker);
  if (passage.isWatched) await noteSuccess(db, asked);
  return { jitConfig: jit.jitConfig, isWatched: passage.isWatched };
}

const LOOK_AGAIN_MS = 1_000;
const GONE_REPOSITORY_MS = 15 * 60_000;
const REFUSED_MS = 60_000;

const groupOf = ({ runnerGroup, publicRepositories }: Pool) =>
  ({ name: runnerGroup, visibility: 'all', allowsPublicRepositories: publicRepositories }) as const;

async function afterFailure(
  { db, github, runnerGroups, events }: Registering,
  worker: WorkerToProvision,
  failure: GitHubFailure,
  marked: boolean,
): Promise<Outcome> {
  events.githubFailed(worker, failure);
  const subject = faultOf(failure, worker);
  if (subject !== undefined) await noteFailure(db, { subject, failureClass: failure.kind, message: failure.message });
  if (failure.kind === 'conflict' || (marked && mayHaveRegistered(failure))) {
    const message = `It is not known whether GitHub registered the runner: ${failure.message}`;
    await failWorker(db, worker.podName, { reason: 'registration_interrupted', message });
    return done({ ended: 'registration_interrupted' });
  }
  if (marked) await clearRegistrationStarted(db, worker.podName);
  switch (failure.kind) {
    case 'rate_limited':
      return snooze(failure.retryAfterMs ?? 60_000, failure.message);
    case 'not_found':
    case 'unauthorized':
    case 'forbidden':
      runnerGroups.forget(worker.login);
      await noteRefusal(db, worker, failure);
      if (await repaired(db, github, worker)) return snooze(LOOK_AGAIN_MS, `the installation was found anew after: ${failure.message}`);
      return snooze(REFUSED_MS, failure.message);
    case 'invalid':
      runnerGroups.forget(worker.login);
      throw new Error(`GitHub refused to register the runner ${worker.podName}: ${failure.message}`);
    case 'unavailable':
    case 'timeout':
    case 'network':
    case 'unknown':
      throw new Error(`GitHub could not be asked to register the runner ${worker.podName}: ${failure.message}`);
    default:
      return failure.kind satisfies never;
  }
}

/** Only the call for the JIT config registers anything, and only when it was not refused. */
function mayHaveRegistered({ kind, operation, neverSent = false }: GitHubFailure): boolean {
  if (neverSent || (!operation.endsWith('/generate-jitconfig') && operation !== 'unknown')) return false;
  return kind === 'unavailable' || kind === 'timeout' || kind === 'network' || kind === 'unknown';
}

/** Keeps what later explains why an installation stopped working (C9). */
async function noteRefusal(db: Kysely<Database>, worker: WorkerToProvision, failure: GitHubFailure): Promise<void> {
  await recordAuthFailure(db, 'scheduler', {
    operation: failure.operation,
    httpStatus: failure.status ?? 0,
    message: failure.message,
    appId: worker.appId,
    installationId: worker.installationId,
    entityId: worker.entityId,
    entityType: worker.entityType,
    entityName: worker.login,
    jobId: worker.madeForJobId,
    deliveryGuid: worker.deliveryGuid,
  });
}

/** A look-up that fails too changes nothing: the refusal before it says why. */
async function repaired(db: Kysely<Database>, github: GitHub, worker: WorkerToProvision): Promise<boolean> {
  try {
    return await repairInstallation(db, github, worker);
  } catch (error) {
    if (classifyGitHubError(error).operation === 'unknown') throw error;
    return false;
  }
}

/** What a failure of GitHub's speaks against; undefined: nothing but this call. */
function faultOf({ kind }: GitHubFailure, worker: WorkerToProvision): BreakerSubject | undefined {
  switch (kind) {
    case 'not_found':
    case 'unauthorized':
    case 'forbidden':
      return installationBreaker(worker.entityId);
    case 'invalid':
      return poolBreaker(worker.pool);
    case 'unavailable':
    case 'timeout':
    case 'network':
    case 'unknown':
      return githubBreaker;
    case 'conflict':
    case 'rate_limited':
      return undefined;
    default:
      return kind satisfies never;
  }
}
