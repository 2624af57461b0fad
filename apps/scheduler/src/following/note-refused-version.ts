import type { Noting } from '@paddock/db/breakers/note-failure';
import { noteOutdatedRunner } from '@paddock/db/workers/worker-failures';
import { findEndWithoutJob, markOutdatedRunner } from '@paddock/db/workers/outdated-runners';
import type { Cluster } from '@paddock/kube/connect';
import { isTransient, KubeError, type KubeFailure } from '@paddock/kube/errors';
import { readRefusedVersion } from '@paddock/kube/runner-version';

export interface NotingVersions extends Noting {
  readonly cluster: Cluster;
}

export const outdatedMessage = (podName: string, version?: string): string =>
  `GitHub serves the version of the runner ${podName}${version === undefined ? '' : `, ${version},`} no more: the pool needs a newer image`;

/**
 * Looks into the log of a runner that has ended without a job: one of a version that GitHub serves
 * no more listens, is refused and ends, often with exit code 0. Such an end is no unexplained one,
 * and speaks against its pool. Returns the version that was refused, if one was. Throws while the
 * log of one that ended well cannot be had, for it tells no other way.
 */
export async function noteRefusedVersion(parts: NotingVersions, podName: string, signal: AbortSignal): Promise<string | undefined> {
  const { db, cluster, breakerRules } = parts;
  const end = await findEndWithoutJob(db, podName);
  if (end === undefined) return undefined;
  const version = await readRefusedVersion(cluster, { namespace: end.namespace, name: podName }, signal);
  // The log of one that ended badly has its place in the diagnosis, which waits for nothing.
  if (typeof version === 'object' && end.hasEndedWell && isTransient(version.unreadable)) throw unreadable(version.unreadable);
  if (typeof version !== 'string') return undefined;
  const message = outdatedMessage(podName, version);
  await db.transaction().execute(async (trx) => {
    if (await markOutdatedRunner(trx, podName, message)) await noteOutdatedRunner({ db: trx, breakerRules }, { podName, message });
  });
  return version;
}

/**
 * A node that stays silent costs an attempt, or the diagnoses of its pods would take all slots from
 * the others for as long as it hangs.
 */
const unreadable = (failure: KubeFailure): Error => (failure.kind === 'timeout' ? new Error(failure.message) : new KubeError(failure));
