import { describe, expect, test } from '@jest/globals';
import { callJson, objectPath, probeCluster } from '@paddock/kube/call';
import type { Cluster } from '@paddock/kube/connect';
import type { KubeFailure } from '@paddock/kube/errors';
import { createPod, findPod } from '@paddock/kube/pods';
import { startSimulatedCluster } from '@paddock/kube/scenes/simulated-cluster.scene';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/demand-rows';
import {
  beginByHand,
  CONFIG,
  type Given,
  noteEvents,
  outputOf,
  usualContext,
  useScene,
} from '../scenes/sweep.scene.ts';
import { deleteEndedPods } from './delete-ended-pods.ts';

const database = useTestDatabase();
const scene = useScene(async () => {
  await emptyTables(database.db, ['workers', 'tasks']);
  return { ...(await startSimulatedCluster({ startDelayMs: [0, 1] })), ...noteEvents() };
});

const sweep = async ({ config, dryRun = false, ...more }: Given = {}) => {
  const db = database.dbOf('reconciler');
  const { cluster, events } = scene;
  const isAway = async () =>
    (await probeCluster(cluster, new AbortController().signal)) !== undefined;
  const { pass } = await beginByHand(db, { isAway, dryRun });
  const given = { ...usualContext(db), cluster, events, config: { ...CONFIG, ...config }, ...more };
  return outputOf(await deleteEndedPods(given, pass));
};
const failures = () =>
  scene.told('podNotDeleted').map(([, failure]) => (failure as KubeFailure).kind);

const NONE = { deleted: 0, absent: 0, left: 0, failed: 0, secrets: 0 };
const NAMESPACE = 'default';

interface Ended {
  status?: 'completed' | 'failed';
  minutes?: number;
  /** Absent: as the pod's. */
  podUid?: string | null;
  pod?: 'ended' | 'running' | 'unstarted' | 'none';
  /** Its Secret is not known to be gone. */
  secretLeft?: boolean;
}

/** A worker that ended `minutes` ago, with the remains of its pod. Returns its name. */
async function putEnded({
  status = 'completed',
  minutes = 400,
  pod = 'ended',
  podUid,
  secretLeft = false,
}: Ended = {}): Promise<string> {
  const { db } = database;
  const { cluster } = scene;
  const { pod_name: name } = await putWorker(db, {
    status,
    completed_at: minutesAgo(minutes),
    ...(!secretLeft && { secret_deleted_at: minutesAgo(minutes) }),
  });
  if (pod === 'none') return name;
  const at = { namespace: NAMESPACE, name };
  const annotations = pod === 'unstarted' ? { 'test.paddock/start': 'never' } : {};
  const spec = { containers: [{ name: 'runner', image: 'runner:1' }] };
  const { uid } = await createPod(cluster, { metadata: { ...at, annotations }, spec });
  await waitFor('the pod to come so far', async () => {
    const there = await findPod(cluster, at);
    return pod === 'unstarted' ? there?.nodeName !== undefined : there?.phase === 'Running';
  });
  if (pod === 'ended') {
    scene.kube.endPod({ ...at, end: status === 'failed' ? 'failed' : 'succeeded' });
    await waitFor('the pod to end', async () => (await findPod(cluster, at))?.containersTerminated);
  }
  const known = { pod_uid: podUid === undefined ? uid : podUid };
  await db.updateTable('workers').set(known).where('pod_name', '=', name).execute();
  return name;
}

const isThere = async (name: string) =>
  (await findPod(scene.cluster, { namespace: NAMESPACE, name })) !== undefined;
const gone = (name: string) => waitFor(`the end of ${name}`, async () => !(await isThere(name)));
const marked = async () => {
  const rows = database.db.selectFrom('workers').where('pod_deleted_at', 'is not', null);
  return (await rows.select('pod_name').execute()).map(({ pod_name: name }) => name).toSorted();
};

describe('pods of ended workers (E7)', () => {
  test('go after their grace, and not before; a dry run only counts them', async () => {
    const [old, young] = [await putEnded({ minutes: 361 }), await putEnded({ minutes: 359 })];
    expect(await sweep({ dryRun: true })).toEqual({ ...NONE, deleted: 1 });
    expect(await marked()).toEqual([]);
    expect(scene.kube.report().calls['delete pods']).toBeUndefined();
    expect(await sweep()).toEqual({ ...NONE, deleted: 1 });
    await gone(old);
    expect(await isThere(young)).toBe(true);
    expect(await marked()).toEqual([old]);
    expect(await sweep()).toEqual(NONE);
  });

  test('that succeeded and that failed have different graces; those that are gone already are noted as gone', async () => {
    const failed = await putEnded({ status: 'failed', minutes: 30 });
    await putEnded({ minutes: 30 });
    const absent = await putEnded({ pod: 'none' });
    const config = { podGraceFailedMs: 20 * 60_000 };
    expect(await sweep({ config })).toEqual({ ...NONE, deleted: 1, absent: 1 });
    await gone(failed);
    expect(await marked()).toEqual([failed, absent].toSorted());
  });

  test('are never deleted while they run, even if the row has ended (P2)', async () => {
    const name = await putEnded({ pod: 'running' });
    expect(await sweep()).toEqual({ ...NONE, left: 1 });
    expect(scene.told('podStillRuns')).toEqual([[name, 'Running']]);
    expect(await isThere(name)).toBe(true);
    expect(await marked()).toEqual([]);
  });

  test('that never started, and have changed since they were looked at, are looked at again, and go as they were seen (P2, C6)', async () => {
    const name = await putEnded({ pod: 'unstarted' });
    const path = objectPath(NAMESPACE, 'pods', name);
    const body = { metadata: { annotations: { 'test.paddock/seen': 'by another client' } } };
    const contentType = 'application/merge-patch+json';
    const touch = { method: 'PATCH', path, body, contentType } as const;
    const { cluster } = scene;
    const racing: Cluster = {
      ...cluster,
      send: async (call) => {
        if (call.method === 'DELETE') await callJson(cluster, touch);
        return cluster.send(call);
      },
    };
    expect(await sweep({ cluster: racing })).toMatchObject({ deleted: 0, left: 1 });
    expect(await isThere(name)).toBe(true);
    expect(await sweep()).toEqual({ ...NONE, deleted: 1 });
    await gone(name);
    expect(await marked()).toEqual([name]);
  });

  test('of another uid than the row’s are another pod, and are left alone; where no row knows the uid, they go by the one that is found', async () => {
    const other = await putEnded({ podUid: '00000000-0000-0000-0000-000000000000' });
    const name = await putEnded({ podUid: null });
    expect(await sweep()).toEqual({ ...NONE, absent: 1, deleted: 1 });
    await gone(name);
    expect(await isThere(other)).toBe(true);
  });

  const faults = [0, 1, 2, 3].map((after) => ({ status: 503, after }));
  const lost = { method: 'DELETE', afterCommit: true, status: 503 };
  test.each([...faults, lost])('are all gone after the next pass although %j', async (fault) => {
    const names = [await putEnded(), await putEnded()];
    scene.kube.failNext(fault);
    expect(await sweep()).toMatchObject({ failed: 1 });
    expect(failures()).toEqual(['unavailable']);
    await sweep();
    expect(await marked()).toEqual(names.toSorted());
    for (const name of names) await gone(name);
  });

  test.each([503, 403])(
    'are tried no further while the API server is away (%d), ones in excess neither; a deletion that hangs holds up no other (P6)',
    async (status) => {
      for (let made = 0; made < 3; made += 1) await putEnded();
      await putEnded({ minutes: 10 });
      for (const fault of [{ path: '/readyz', status: 503 }, { status }])
        scene.kube.failNext({ ...fault, times: 1_000 });
      const config = { endedPodsPerNamespace: 0 };
      expect(await sweep({ config })).toMatchObject({ failed: 1, deleted: 0 });
      expect(failures()).toHaveLength(1);
      scene.kube.clearFaults();
      scene.kube.failNext({ method: 'DELETE', status: 504 });
      expect(await sweep()).toMatchObject({ failed: 1, deleted: 2 });
    },
  );

  test('go before their time when a namespace has too many: successful ones first, among these the longest ended', async () => {
    await putEnded({ status: 'failed', minutes: 50 });
    const failed = await putEnded({ status: 'failed', minutes: 40 });
    const succeeded: string[] = [];
    for (const minutes of [30, 20, 10]) succeeded.push(await putEnded({ minutes }));
    const config = { endedPodsPerNamespace: 3 };
    for (const dryRun of [true, false])
      expect(await sweep({ config, dryRun })).toMatchObject({ deleted: 2 });
    expect(await marked()).toEqual(succeeded.slice(0, 2).toSorted());
    expect(await sweep({ config: { endedPodsPerNamespace: 1 } })).toMatchObject({ deleted: 2 });
    expect(await isThere(failed)).toBe(true);
  });

  test('are no more in one pass than the cap, the longest ended first, and the next pass goes on', async () => {
    const names: string[] = [];
    for (const minutes of [500, 450, 20]) names.push(await putEnded({ minutes }));
    for (const [podsOfPass, deleted, soFar] of [
      [1, 1, 1],
      [0, 0, 1],
      [2, 2, 3],
    ] as const) {
      const config = { podsOfPass, endedPodsPerNamespace: 0 };
      expect(await sweep({ config })).toMatchObject({ deleted });
      expect(await marked()).toEqual(names.slice(0, soFar).toSorted());
    }
  });

  test('whose Secret may still exist have it removed again, in every pass until it is gone (E6)', async () => {
    const name = await putEnded({ secretLeft: true });
    const tasks = () => database.db.selectFrom('tasks').select(['kind', 'subject_id']).execute();
    expect(await sweep({ dryRun: true })).toMatchObject({ deleted: 1, secrets: 1 });
    expect(await tasks()).toEqual([]);
    expect(await sweep()).toMatchObject({ deleted: 1, secrets: 1 });
    expect(await tasks()).toEqual([{ kind: 'remove-secret', subject_id: name }]);
    expect(await marked()).toEqual([]);
    await database.db.deleteFrom('tasks').execute();
    await gone(name);
    expect(await sweep()).toMatchObject({ absent: 1, secrets: 1 });
    expect(await tasks()).toHaveLength(1);
    await database.db.updateTable('workers').set({ secret_deleted_at: new Date() }).execute();
    expect(await sweep()).toMatchObject({ absent: 1, secrets: 0 });
    expect(await marked()).toEqual([name]);
  });

  test('that may have left Secrets behind are one line of the log (E6)', async () => {
    const names = [await putEnded({ secretLeft: true }), await putEnded({ secretLeft: true })];
    expect(await sweep()).toMatchObject({ secrets: 2 });
    const told = scene.told('secretsForgotten') as [readonly string[]][];
    expect(told.map(([some]) => some.toSorted())).toEqual([names.toSorted()]);
  });
});
