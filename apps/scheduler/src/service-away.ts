import { recordRefusal, type RefusedCall } from '@paddock/db/entities/refusals';
import type { Reaches } from '@paddock/db/outages';
import type { Db } from '@paddock/db/schema/tables';
import { type GitHubFailure, isUnanswered as isUnansweredByGitHub } from '@paddock/github/errors';
import {
  isAway,
  isUnanswered as isUnansweredByCluster,
  KubeError,
  type KubeFailure,
} from '@paddock/kube/errors';
import { type Handler, type Outcome, snooze } from '@paddock/queue/kind';

/** While the service is away, no process that finds it away claims the task. */
const AWAY_MS = 1_000;

/**
 * How a task ends if GitHub is away: it costs no attempt, and the worker is not at fault. Undefined:
 * GitHub answers, so the failure belongs to the object of the call.
 */
export const ifGitHubAway = async (
  { github }: Reaches,
  failure: GitHubFailure,
): Promise<Outcome | undefined> =>
  isUnansweredByGitHub(failure) && (await github.report())
    ? snooze(AWAY_MS, failure.message)
    : undefined;

/** The same for the API server. A node or a webhook that is silent is not the API server. */
export const ifClusterAway = async (
  { cluster }: Reaches,
  failure: KubeFailure,
): Promise<Outcome | undefined> =>
  isUnansweredByCluster(failure) && (await cluster.report())
    ? snooze(AWAY_MS, failure.message)
    : undefined;

/** For a node or a webhook, whose return no event shows. */
const RETRY_ONE_MS = 15_000;

/**
 * Wraps a handler so that its task waits while the cluster, a node or a webhook does not answer,
 * without spending an attempt.
 */
export const waitingForCluster =
  ({ reach }: { readonly reach: Reaches }, handler: Handler): Handler =>
  async (task, signal) => {
    try {
      return await handler(task, signal);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const { failure } = error;
      const away = await ifClusterAway(reach, failure);
      if (away !== undefined) return away;
      if (!isAway(failure)) throw error;
      return snooze(Math.max(failure.retryAfterMs ?? 0, RETRY_ONE_MS), failure.message);
    }
  };

/**
 * The longest sleep of a task that GitHub keeps waiting: a person may end the wait, and news of
 * GitHub's a refusal.
 */
const LONGEST_MS = 60_000;

/** Snoozes a task until the second that GitHub named, or until it looks again whether that holds. */
export const awaitGitHub = ({
  message,
  retryAfterMs = LONGEST_MS,
}: {
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}): Outcome => snooze(Math.min(retryAfterMs, LONGEST_MS), message);

/** Records that GitHub refused a call for the worker, and snoozes its task as long as that holds. */
export async function awaitAfterRefusal(
  db: Db,
  worker: RefusedCall & { readonly scopeRepoId: number; readonly madeForJobId: number | null },
  refusal: GitHubFailure,
): Promise<Outcome> {
  const call = { ...worker, repoId: worker.scopeRepoId, jobId: worker.madeForJobId };
  const heldMs = await recordRefusal(db, 'scheduler', { call, refusal });
  return awaitGitHub({ message: refusal.message, retryAfterMs: heldMs ?? refusal.retryAfterMs });
}
