import type { Reaches } from '@paddock/db/outages';
import type { Db } from '@paddock/db/schema/tables';
import { noteStopHeldUp, type WorkerToStop } from '@paddock/db/workers/stopping-workers';
import type { StopRules } from '@paddock/domain/workers/stop-steps';
import { refusedSubject } from '@paddock/domain/entities/refused-subject';
import { classifyGitHubError } from '@paddock/github/errors';
import { KubeError } from '@paddock/kube/errors';
import { type Outcome, snooze } from '@paddock/queue/kind';
import type { SchedulerEvents } from '../events.ts';
import { awaitAfterRefusal, awaitGitHub, ifClusterAway, ifGitHubAway } from '../service-away.ts';
import { HiddenRunnerError } from './read-evidence.ts';

interface Failing {
  readonly db: Db;
  readonly reach: Reaches;
  readonly events: SchedulerEvents;
  readonly stopRules: Pick<StopRules, 'retryMs'>;
}

/**
 * Decides what a failed call means for a worker that is being stopped: it stays, and its row has
 * the reason. GitHub and the cluster may be away for any time. Rethrows other failures.
 */
export async function afterStopFailure(
  parts: Failing,
  worker: WorkerToStop,
  error: unknown,
): Promise<Outcome> {
  const { db, events, stopRules } = parts;
  if (error instanceof KubeError) {
    events.stopFailed(worker, error.failure);
    await noteStopHeldUp(db, worker.podName, error.message);
    const away = await ifClusterAway(parts.reach, error.failure);
    const { retryAfterMs = 0 } = error.failure;
    return away ?? snooze(Math.max(retryAfterMs, stopRules.retryMs), error.message);
  }
  if (error instanceof HiddenRunnerError) {
    await noteStopHeldUp(db, worker.podName, error.message);
    if (error.refusal === undefined) return awaitGitHub(error);
    return awaitAfterRefusal(db, worker, error.refusal);
  }
  const failure = classifyGitHubError(error);
  if (failure.operation === 'unknown') throw error;
  events.stopFailed(worker, failure);
  await noteStopHeldUp(db, worker.podName, failure.message);
  if (failure.kind === 'rate_limited') return awaitGitHub(failure);
  const away = await ifGitHubAway(parts.reach, failure);
  if (away !== undefined) return away;
  if (refusedSubject(failure) === undefined)
    return awaitGitHub({ ...failure, retryAfterMs: failure.retryAfterMs ?? stopRules.retryMs });
  return awaitAfterRefusal(db, worker, failure);
}

/** Whether GitHub hides its knowledge of a runner: it refuses the call or hides the repository. */
export const isRefused = (error: unknown): boolean =>
  error instanceof HiddenRunnerError || refusedSubject(classifyGitHubError(error)) !== undefined;

/** Whether a call of GitHub failed, or was spared after a refusal. */
export const isGitHubs = (error: unknown): boolean =>
  !(error instanceof KubeError) &&
  (isRefused(error) || classifyGitHubError(error).operation !== 'unknown');
