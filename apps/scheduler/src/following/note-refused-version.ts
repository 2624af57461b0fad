import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { findEndWithoutJob, markOutdatedRunner } from '@paddock/db/workers/runner-versions';
import type { Cluster } from '@paddock/kube/connect';
import { isTransient, KubeError, type KubeFailure } from '@paddock/kube/errors';
import { readRefusedVersion } from '@paddock/kube/runner-version';
import { OUTDATED_RUNNER } from '@paddock/domain/workers/stop-reasons';
import { type NotingFailures, outdatedMessage } from './note-health.ts';

export interface NotingVersions extends NotingFailures {
  readonly cluster: Cluster;
}

/**
 * Reads the log of a runner that ended without a job. GitHub refuses a runner whose version it no
 * longer serves; the runner then ends, often with exit code 0. Such an end counts as explained, and
 * against the worker's key. Returns the refused version, if there is one. Throws while the log of a runner
 * that ended well cannot be read, since nothing else shows the refusal.
 */
export async function noteRefusedVersion(
  parts: NotingVersions,
  podName: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { db, cluster, failureRules } = parts;
  const end = await findEndWithoutJob(db, podName);
  if (end === undefined) return undefined;
  const version = await readRefusedVersion(
    cluster,
    { namespace: end.namespace, name: podName },
    signal,
  );
  // The diagnosis keeps the log of a runner that ended badly, and does not wait for it.
  if (typeof version === 'object' && end.hasEndedWell && isTransient(version.unreadable))
    throw unreadable(version.unreadable);
  if (typeof version !== 'string') return undefined;
  const message = outdatedMessage(podName, version);
  await db.transaction().execute(async (trx) => {
    if (await markOutdatedRunner(trx, podName, message))
      await noteKeyFailure(trx, { podName, failureClass: OUTDATED_RUNNER, message }, failureRules);
  });
  return version;
}

/** A silent node costs an attempt; otherwise the diagnoses of its pods would take all slots. */
const unreadable = (failure: KubeFailure): Error =>
  failure.kind === 'timeout' ? new Error(failure.message) : new KubeError(failure);
