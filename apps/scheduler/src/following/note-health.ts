import { noteKeyFailure, noteKeySuccess } from '@paddock/db/workers/failing-keys';
import type { Db } from '@paddock/db/schema/tables';
import type { PodTransition } from '@paddock/db/workers/worker-pods';
import type { FailureRules } from '@paddock/domain/matching/failure-classes';
import { OUTDATED_RUNNER, START_FAILURES } from '@paddock/domain/workers/stop-reasons';

/** What functions need that count failures of workers. */
export interface NotingFailures {
  readonly db: Db;
  readonly failureRules: FailureRules;
}

export const outdatedMessage = (version?: string): string =>
  version === undefined ? 'GitHub refused the runner' : `the runner has the version ${version}`;

/** What the cluster or a person does to a pod does not count against its key. */
const NOT_THE_WORKERS_FAULT = new Set(['evicted', 'node_lost', 'pod_deleted']);

/** What keeps a pod from starting, and counts. A lack of nodes does not: such pods wait. */
const FAILS_TO_START = new Set<string>([...START_FAILURES, 'crash_loop']);

/**
 * Pods that do not start, and runners that fail before a job, count against their demand key. A pod
 * that starts shows that earlier starts no longer matter. A runner that ended well without a known
 * job counts for neither: it may have had one.
 */
export async function noteHealth(
  { db, failureRules }: NotingFailures,
  {
    podName,
    was,
    status,
    failedIdle,
    failureReason,
    message,
    newlyStuck,
    wasStuck,
    isWatched,
  }: PodTransition,
): Promise<void> {
  const note = (failureClass: string, sentence: string): Promise<void> =>
    noteKeyFailure(db, { podName, failureClass, message: sentence }, failureRules);
  const reason = failureReason ?? 'unknown';
  if (newlyStuck !== null && FAILS_TO_START.has(newlyStuck))
    await note(newlyStuck, `the pod ${podName} does not start: ${message ?? newlyStuck}`);
  if (failedIdle && reason === OUTDATED_RUNNER) {
    await note(OUTDATED_RUNNER, outdatedMessage());
  } else if (failedIdle && !NOT_THE_WORKERS_FAULT.has(reason)) {
    await note(reason, `the runner ${podName} failed before it had a job: ${message ?? reason}`);
  }
  if (isWatched && was === 'pending' && status === 'running')
    await noteKeySuccess(db, podName, 'started', wasStuck);
}
