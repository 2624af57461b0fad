import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { callJson, objectPath } from '@paddock/kube/call';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import type { KubeFailure } from '@paddock/kube/errors';
import { createPod, findPod } from '@paddock/kube/pods';
import { probeCluster } from '@paddock/kube/call';
import {
  type KubeSimulator,
  startKubeSimulator,
} from '@paddock/simulators/kube/start-kube-simulator';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import {
  beginByHand,
  CONFIG,
  type Given,
  noteEvents,
  outputOf,
  usualContext,
} from '../scenes/sweep.scene.ts';
import { deleteEndedPods } from './delete-ended-pods.ts';

const database = useTestDatabase();
let kube: KubeSimulator;
let cluster: Cluster;
let told: ReturnType<typeof noteEvents>;

beforeEach(async () => {
  await emptyTables(database.db, ['workers', 'tasks']);
  kube = await startKubeSimulator({ startDelayMs: [0, 1] });
  cluster = connectCluster({ kubeconfigFile: kube.writeKubeconfig(), requestTimeoutMs: 60_000 });
  told = noteEvents();
});
afterEach(async () => {
  cluster.close();
  await kube.stop();
});

const sweep = async ({ config, dryRun = false, ...more }: Given = {}) => {
  const db = database.dbOf('reconciler');
  const { pass } = await beginByHand(db, {
    isAway: async () => (await probeCluster(cluster, new AbortController().signal)) !== undefined,
    dryRun,
  });
  const { events } = told;
  const given = { ...usualContext(db), cluster, events, config: { ...CONFIG, ...config }, ...more };
  return outputOf(await deleteEndedPods(given, pass));
};
const failures = () =>
  told.told('podNotDeleted').map(([, failure]) => (failure as KubeFailure).kind);

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
  secretLeft,
}: Ended = {}): Promise<string> {
  const { db } = database;
  const secret = secretLeft === true ? {} : { secret_deleted_at: minutesAgo(minutes) };
  const { pod_name: name } = await putWorker(db, {
    status,
    completed_at: minutesAgo(minutes),
    ...secret,
  });
  if (pod === 'none') return name;
  const { uid } = await createPod(cluster, {
    metadata: {
      namespace: NAMESPACE,
      name,
      annotations: pod === 'unstarted' ? { 'test.paddock/start': 'never' } : {},
    },
    spec: { containers: [{ name: 'runner', image: 'runner:1' }] },
  });
  const at = { namespace: NAMESPACE, name };
  await waitFor('the pod to come so far', async () => {
    const there = await findPod(cluster, at);
    return pod === 'unstarted' ? there?.nodeName !== undefined : there?.phase === 'Running';
  });
  if (pod === 'ended') {
    kube.endPod({ namespace: NAMESPACE, name, end: status === 'failed' ? 'failed' : 'succeeded' });
    await waitFor('the pod to end', async () => (await findPod(cluster, at))?.containersTerminated);
  }
  const known = { pod_uid: podUid === undefined ? uid : podUid };
  await db.updateTable('workers').set(known).where('pod_name', '=', name).execute();
  return name;
}

const isThere = async (name: string) =>
  (await findPod(cluster, { namespace: NAMESPACE, name })) !== undefined;
const gone = (name: string) => waitFor(`the end of ${name}`, async () => !(await isThere(name)));
const marked = async () => {
  const rows = database.db.selectFrom('workers').where('pod_deleted_at', 'is not', null);
  return (await rows.select('pod_name').execute()).map(({ pod_name: name }) => name);
};

describe('pods of ended workers (E7)', () => {
  test('go after their grace, and not before', async () => {
    const [old, young] = [await putEnded({ minutes: 361 }), await putEnded({ minutes: 359 })];
    expect(await sweep()).toEqual({ ...NONE, deleted: 1 });
    await gone(old);
    expect(await isThere(young)).toBe(true);
    expect(await marked()).toEqual([old]);
    expect(await sweep()).toEqual(NONE);
  });

  test('that succeeded and that failed have different graces; those that are gone already are noted as gone', async () => {
    const failed = await putEnded({ status: 'failed', minutes: 30 });
    await putEnded({ status: 'completed', minutes: 30 });
    const absent = await putEnded({ pod: 'none' });
    const config = { podGraceFailedMs: 20 * 60_000 };
    expect(await sweep({ config })).toEqual({ ...NONE, deleted: 1, absent: 1 });
    await gone(failed);
    expect((await marked()).toSorted()).toEqual([failed, absent].toSorted());
  });

  test('are never deleted while they run, even if the row has ended (P2)', async () => {
    const name = await putEnded({ pod: 'running' });
    expect(await sweep()).toEqual({ ...NONE, left: 1 });
    expect(told.told('podStillRuns')).toEqual([[name, 'Running']]);
    expect(await isThere(name)).toBe(true);
    expect(await marked()).toEqual([]);
  });

  test('that never started, and have changed since they were looked at, are looked at again, and go as they were seen (P2, C6)', async () => {
    const name = await putEnded({ pod: 'unstarted' });
    const path = objectPath(NAMESPACE, 'pods', name);
    const body = { metadata: { annotations: { 'test.paddock/seen': 'by another client' } } };
    const contentType = 'application/merge-patch+json';
    const touch = { method: 'PATCH', path, body, contentType } as const;
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
    kube.failNext(fault);
    expect(await sweep()).toMatchObject({ failed: 1 });
    expect(failures()).toEqual(['unavailable']);
    await sweep();
    expect((await marked()).toSorted()).toEqual(names.toSorted());
    for (const name of names) await gone(name);
  });

  test('are tried no further while the API server is away, ones in excess neither; a deletion that hangs holds up no other (P6)', async () => {
    for (let made = 0; made < 3; made += 1) await putEnded();
    await putEnded({ minutes: 10 });
    kube.failNext({ status: 503, times: 1_000 });
    expect(await sweep({ config: { endedPodsPerNamespace: 0 } })).toMatchObject({
      failed: 1,
      deleted: 0,
    });
    expect(failures()).toEqual(['unavailable']);
    kube.clearFaults();
    kube.failNext({ method: 'DELETE', status: 504 });
    expect(await sweep()).toMatchObject({ failed: 1, deleted: 2 });
  });

  test('go before their time when a namespace has too many: successful ones first, among these the longest ended', async () => {
    await putEnded({ status: 'failed', minutes: 50 });
    const failed = await putEnded({ status: 'failed', minutes: 40 });
    const succeeded: string[] = [];
    for (const minutes of [30, 20, 10]) succeeded.push(await putEnded({ minutes }));
    expect(await sweep({ config: { endedPodsPerNamespace: 3 }, dryRun: true })).toMatchObject({
      deleted: 2,
    });
    expect(await sweep({ config: { endedPodsPerNamespace: 3 } })).toMatchObject({ deleted: 2 });
    expect((await marked()).toSorted()).toEqual(succeeded.slice(0, 2).toSorted());
    expect(await sweep({ config: { endedPodsPerNamespace: 1 } })).toMatchObject({ deleted: 2 });
    expect(await isThere(failed)).toBe(true);
  });

  test('are no more in one pass than the cap, the longest ended first, and the next pass goes on', async () => {
    const names: string[] = [];
    for (const minutes of [500, 450, 20]) names.push(await putEnded({ minutes }));
    expect(await sweep({ config: { podsOfPass: 1, endedPodsPerNamespace: 0 } })).toMatchObject({
      deleted: 1,
    });
    expect(await marked()).toEqual(names.slice(0, 1));
    expect(await sweep({ config: { podsOfPass: 0, endedPodsPerNamespace: 0 } })).toMatchObject({
      deleted: 0,
    });
    expect(await sweep({ config: { podsOfPass: 2, endedPodsPerNamespace: 0 } })).toMatchObject({
      deleted: 2,
    });
    expect((await marked()).toSorted()).toEqual(names.toSorted());
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

  test('are only counted by a dry run', async () => {
    await putEnded();
    expect(await sweep({ dryRun: true })).toEqual({ ...NONE, deleted: 1 });
    expect(await marked()).toEqual([]);
    expect(kube.report().calls['delete pods']).toBeUndefined();
  });
});
