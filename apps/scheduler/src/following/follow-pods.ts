import { markPodsDeleted, markPodsThere } from '@paddock/db/workers/ended-pods';
import { holdLease } from '@paddock/db/leases/leases';
import { findInstance } from '@paddock/db/instance';
import { markStuckPods } from '@paddock/db/workers/stuck-pods';
import {
  findKnownPods,
  findNamespaces,
  stopVanishedWorkers,
} from '@paddock/db/workers/worker-pods';
import { diagnoseTask, stopTask } from '@paddock/domain/tasks/worker-tasks';
import {
  type UnconfirmedPods,
  judgeAbsence,
  NONE_UNCONFIRMED,
} from '@paddock/domain/workers/judge-absence';
import type { Reaches } from '@paddock/db/outages';
import type { Cluster } from '@paddock/kube/connect';
import { isUnanswered } from '@paddock/kube/errors';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { type PodEvent, watchPods } from '@paddock/kube/watch-pods';
import { enqueue } from '@paddock/queue/enqueue';
import { createSamples } from '@paddock/runtime/events';
import { pause } from '@paddock/runtime/pause';
import { noteJobs } from './note-jobs.ts';
import { type Recording, recordPods } from './record-pods.ts';
import { stopUnstartable } from './stop-unstartable.ts';

export interface Following extends Recording {
  readonly cluster: Cluster;
  readonly reach: Pick<Reaches, 'cluster'>;
  /** This process, unique per start. */
  readonly holder: string;
  /** Length of the lease, and the time between its renewals. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** How often to check for new namespaces. */
  readonly namespacesMs?: number;
  /**
   * How long a pod may take to start, and to go after its termination period, before it is stuck.
   */
  readonly stuckAfterMs: number;
  /** Length of one watch; by default as in `watchPods`. */
  readonly watchSeconds?: number;
  /** Time between a list that lacks most pods and the next list. */
  readonly confirmAfterMs?: number;
}

/** Costs one cheap statement. The follower sees the first pod of a namespace at most this late. */
const NAMESPACES_MS = 5_000;

/**
 * By then an API server that has just started, or a cache that fills, shows all pods. The job of a
 * lost pod waits no longer.
 */
const CONFIRM_AFTER_MS = 30_000;

/**
 * Follows the pods of this environment while this replica holds the lease. Two followers at once do
 * no harm.
 */
export async function followPods(parts: Following, signal: AbortSignal): Promise<void> {
  const { db, holder, events, leaseMs, renewMs } = parts;
  const lease = { db, name: 'follow-pods', holder, leaseMs, renewMs, onError: events.followFailed };
  await holdLease(lease, (held) => followNamespaces(parts, held), signal);
}

/**
 * Keeps one watch for each namespace of a pool in force or of a live worker. A namespace that no
 * pool names now is thus followed until its last worker has ended; afterwards its rights may go.
 * A change of the namespaces begins all watches anew. Ends with the first watch that fails.
 */
async function followNamespaces(parts: Following, signal: AbortSignal): Promise<void> {
  const instance = await findInstance(parts.db);
  const noted = new Map<string, number>();
  try {
    while (!signal.aborted) {
      const namespaces = new Set(await findNamespaces(parts.db));
      const ended = new AbortController();
      const stop = AbortSignal.any([signal, ended.signal]);
      const works = [
        ...[...namespaces].map((namespace) =>
          followNamespace(parts, { namespace, instance }, stop),
        ),
        tendUntilChanged(parts, namespaces, stop),
        noteJobsAgain(parts, noted, stop),
      ].map((work) => work.finally(() => ended.abort()));
      await Promise.allSettled(works);
      await Promise.all(works);
    }
  } finally {
    parts.events.followingEnded();
  }
}

/** Beside the others, for a slow API server must not hold them up. */
async function noteJobsAgain(
  parts: Following,
  noted: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await noteJobs(parts, noted, signal);
    await pause(parts.namespacesMs ?? NAMESPACES_MS, signal);
  }
}

/** Looks after pods that do not start or go, until the namespaces are no longer these. */
async function tendUntilChanged(
  parts: Following,
  namespaces: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  let needed = namespaces;
  while (!signal.aborted && namespaces.symmetricDifference(needed).size === 0) {
    await noteStuckPods(parts);
    await stopUnstartable(parts, signal);
    await pause(parts.namespacesMs ?? NAMESPACES_MS, signal);
    needed = new Set(await findNamespaces(parts.db));
  }
}

/** Enqueues diagnoses of pods that have been pending or terminating for too long. */
export async function noteStuckPods({ db, events, stuckAfterMs }: Following): Promise<number> {
  const stuck = await db.transaction().execute(async (trx) => {
    const marked = await markStuckPods(trx, stuckAfterMs);
    await enqueue(
      trx,
      marked.map(({ podName, deliveryGuid }) => diagnoseTask(podName, deliveryGuid)),
    );
    return marked;
  });
  for (const pod of stuck) events.podStuck(pod);
  return stuck.length;
}

async function followNamespace(
  parts: Following,
  where: { namespace: string; instance: string },
  signal: AbortSignal,
): Promise<void> {
  const { db, cluster, reach, events, watchSeconds } = parts;
  let known: readonly string[] = [];
  let unconfirmed = NONE_UNCONFIRMED;
  const sample = createSamples();
  await watchPods(
    cluster,
    {
      ...where,
      watchSeconds,
      beforeList: async () => {
        known = await findKnownPods(db, where.namespace);
      },
      onList: async (pods) => {
        unconfirmed = await takeList(parts, where.namespace, pods, known, unconfirmed);
        return unconfirmed.size === 0
          ? {}
          : { relistInMs: parts.confirmAfterMs ?? CONFIRM_AFTER_MS };
      },
      onChanges: (changes) => takeChanges(parts, changes),
      onInterrupted: (failure, retryInMs) => {
        if (isUnanswered(failure)) void reach.cluster.report();
        const told = sample(failure.kind);
        if (told !== undefined)
          events.watchInterrupted({ namespace: where.namespace, failure, retryInMs, ...told });
      },
    },
    signal,
  );
}

/**
 * Records a complete list and the pods that it lacks. Pods that were `known` before the list was
 * read and are missing are gone. If too many are missing, the list is unconfirmed: returns the
 * unconfirmed pods for the next list. The worker of a pod that is gone no longer counts as supply;
 * its row ends when GitHub has said what became of the runner.
 */
export async function takeList(
  parts: Following,
  namespace: string,
  pods: readonly ObservedPod[],
  known: readonly string[],
  unconfirmed: UnconfirmedPods = NONE_UNCONFIRMED,
): Promise<UnconfirmedPods> {
  const { withoutRow } = await recordPods(parts, pods);
  parts.events.podsWithoutRow(namespace, withoutRow);
  const present = new Set(pods.map(({ name }) => name));
  await markPodsThere(parts.db, [...present]);
  const judged = judgeAbsence(
    { known, present, unconfirmed, nowMs: performance.now() },
    parts.confirmAfterMs ?? CONFIRM_AFTER_MS,
  );
  parts.events.absenceJudged({
    namespace,
    known: known.length,
    before: unconfirmed.size,
    unconfirmed: judged.unconfirmed.size,
    gone: judged.gone.length,
  });
  await takeAbsence(parts, judged.gone);
  return judged.unconfirmed;
}

/**
 * Records the newest change of each pod. A deleted pod may be shown in an older state, so that
 * state counts only if the pod has ended or no other change is there.
 */
export async function takeChanges(parts: Following, changes: readonly PodEvent[]): Promise<void> {
  const newest = new Map<string, ObservedPod>();
  for (const { type, pod } of changes) {
    const isOld =
      type === 'deleted' &&
      pod.phase !== 'Succeeded' &&
      pod.phase !== 'Failed' &&
      newest.has(pod.uid);
    if (!isOld) newest.set(pod.uid, pod);
  }
  await recordPods(parts, [...newest.values()]);
  const deleted = changes.filter(({ type }) => type === 'deleted');
  await takeAbsence(
    parts,
    deleted.map(({ pod }) => pod.name),
  );
}

async function takeAbsence({ db, events }: Following, podNames: readonly string[]): Promise<void> {
  if (podNames.length === 0) return;
  await markPodsDeleted(db, podNames);
  const vanished = await db.transaction().execute(async (trx) => {
    const workers = await stopVanishedWorkers(trx, podNames);
    await enqueue(trx, workers.map(stopTask));
    return workers;
  });
  events.podsVanished(vanished);
}
