import { type BreakerSubject, heldBy } from '@paddock/db/breakers/breaker-subjects';
import type { Noting } from '@paddock/db/breakers/note-failure';
import { recordRefusal } from '@paddock/db/breakers/refusals';
import { noteStopHeldUp, type WorkerToStop } from '@paddock/db/workers/stopping-workers';
import type { StopRules } from '@paddock/domain/workers/stop-steps';
import { refusedSubject } from '@paddock/domain/entities/refused-subject';
import { classifyGitHubError } from '@paddock/github/errors';
import { KubeError } from '@paddock/kube/errors';
import { type Outcome, snooze } from '@paddock/queue/outcome';
import type { SchedulerEvents } from '../events.ts';
import { awaitGitHub } from '../await-github.ts';
import { RefusedEntityError, UnseenRepositoryError } from './read-evidence.ts';

interface Failing extends Noting {
  readonly events: SchedulerEvents;
  readonly stopRules: Pick<StopRules, 'retryMs'>;
}

/**
 * How often to retry a call that GitHub refuses, unless the refusal ends sooner. Refusals do not
 * pass within minutes.
 */
const REFUSED_MS = 15 * 60_000;

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
    return snooze(error.failure.retryAfterMs ?? stopRules.retryMs, error.message);
  }
  if (error instanceof UnseenRepositoryError || error instanceof RefusedEntityError) {
    await noteStopHeldUp(db, worker.podName, error.message);
    const { refusal } = worker;
    return untilAllowed(error.message, refusal?.subject, refusal?.leftMs);
  }
  const failure = classifyGitHubError(error);
  if (failure.operation === 'unknown') throw error;
  events.stopFailed(worker, failure);
  await noteStopHeldUp(db, worker.podName, failure.message);
  if (failure.kind === 'rate_limited') return awaitGitHub(failure, worker);
  if (refusedSubject(failure) === undefined)
    return snooze(failure.retryAfterMs ?? stopRules.retryMs, failure.message);
  const call = { ...worker, repoId: worker.scopeRepoId, jobId: worker.madeForJobId };
  return untilAllowed(
    failure.message,
    await recordRefusal(parts, 'scheduler', { call, refusal: failure }),
  );
}

const untilAllowed = (why: string, refused?: BreakerSubject, leftMs = Infinity): Outcome =>
  snooze(
    Math.min(leftMs, REFUSED_MS),
    why,
    refused === undefined ? {} : { heldBy: heldBy(refused) },
  );

/**
 * Whether GitHub hides its knowledge of a runner: it refuses the call, hides the repository, or was
 * not asked after a refusal.
 */
export const isRefused = (error: unknown): boolean =>
  error instanceof UnseenRepositoryError ||
  error instanceof RefusedEntityError ||
  refusedSubject(classifyGitHubError(error)) !== undefined;
