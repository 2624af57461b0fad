import { findInstance } from '@paddock/db/instance';
import type { Outage } from '@paddock/db/connection/database-outage';
import type { Reaches } from '@paddock/db/outages';
import { findNamespaces } from '@paddock/db/workers/worker-pods';
import type { Cluster } from '@paddock/kube/connect';
import { classifyKubeError, isTransient } from '@paddock/kube/errors';
import { listPods } from '@paddock/kube/pods';
import { pause } from '@paddock/runtime/pause';
import { type Recording, recordPods } from './record-pods.ts';

export interface SyncingPods extends Recording {
  readonly cluster: Cluster;
  readonly reach: Pick<Reaches, 'cluster'>;
  /** A database that was away may have lost rows when it is back: a failover, a restore. */
  readonly outage: Pick<Outage, 'onFailure'>;
  /** Called when tasks may make pods again. */
  readonly onSynced: () => void;
}

export type PodsSync = ReturnType<typeof createPodsSync>;

/**
 * Whether our rows show every pod of ours: only then do they say how many more the caps allow. They
 * may not at the start of this process and after each failure of PostgreSQL.
 */
export function createPodsSync(parts: SyncingPods) {
  /** What has happened that may have lost rows, and is not made good yet. */
  let losses = 1;
  parts.outage.onFailure(() => void losses++);
  return {
    isSynced: () => losses === 0,
    /**
     * Runs a pass of matching, after all pods were read and adopted if that is due. `mayMake` is
     * false while the cluster is away. The pass gives back what the adopted pods leave no room for,
     * so we are synced after it. Throws what the pass throws.
     */
    async before<T>(pass: (mayMake: boolean) => Promise<T>, signal: AbortSignal): Promise<T> {
      const before = losses;
      if (before === 0) return pass(true);
      const mayMake = await adoptAllPods(parts, signal);
      try {
        return await pass(mayMake);
      } finally {
        if (mayMake) losses -= before;
        if (losses === 0) parts.onSynced();
      }
    },
  };
}

const RETRY_MS = 500;

/**
 * Reads and records the pods of all namespaces, as the follower does later. A namespace that the
 * cluster does not let us read, even when asked twice, holds back no other. Resolves to false if the
 * cluster is away.
 */
async function adoptAllPods(parts: SyncingPods, signal: AbortSignal): Promise<boolean> {
  const { db, cluster, reach } = parts;
  const instance = await findInstance(db);
  const isRead = async (namespace: string, mayRepeat = true): Promise<boolean> => {
    const list = await listPods(cluster, { namespace, instance }, signal).catch(classifyKubeError);
    if ('pods' in list) await recordPods(parts, list.pods);
    else if (await reach.cluster.report()) return false;
    else if (mayRepeat && (isTransient(list) || list.kind === 'gone')) {
      await pause(RETRY_MS, signal);
      return isRead(namespace, false);
    }
    return true;
  };
  const namespaces = await findNamespaces(db);
  const answers = await Promise.all(namespaces.map((namespace) => isRead(namespace)));
  return answers.every(Boolean);
}
