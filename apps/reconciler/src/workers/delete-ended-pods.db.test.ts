import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { callJson, objectPath } from '@paddock/kube/call';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
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
import { type Given, passOf } from '../scenes/pass.scene.ts';
import {
  type DeletedPodsCounts,
  deleteEndedPods,
  type DeleteEndedPodsOptions,
} from './delete-ended-pods.ts';

const HOUR_MS = 3_600_000;

const database = useTestDatabase();
let kube: KubeSimulator;
let cluster: Cluster;
let failures: string[];
let stillRunning: string[];

beforeEach(async () => {
  await emptyTables(database.db, ['workers', 'tasks']);
  kube = await startKubeSimulator({ startDelayMs: [0, 1] });
  cluster = connectCluster({ kubeconfigFile: kube.writeKubeconfig(), requestTimeoutMs: 60_000 });
  failures = [];
  stillRunning = [];
});
afterEach(async () => {
  cluster.close();
  await kube.stop();
});

const sweep = async ({
  dryRun = false,
  pass = {},
  ...more
}: Given<DeleteEndedPodsOptions> = {}): Promise<DeletedPodsCounts> =>
  deleteEndedPods(
    {
      db: database.dbOf('reconciler'),
      cluster,
      events: {
        podNotDeleted: (_name, { kind }) => void failures.push(kind),
        podStillRuns: (name) => void stillRunning.push(name),
        secretsForgotten: () => undefined,
      },
      succeededGraceMs: 6 * HOUR_MS,
      failedGraceMs: 6 * HOUR_MS,
      keptPerNamespace: 2_000,
      cap: 10_000,
      ...more,
    },
    await passOf(database.dbOf('reconciler'), {
      isAway: async () => (await probeCluster(cluster, new AbortController().signal)) !== undefined,
      dryRun,
      ...pass,
    }),
  );

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
  await db
    .updateTable('workers')
    .set({ pod_uid: podUid === undefined ? uid : podUid })
    .where('pod_name', '=', name)
    .execute();
  return name;
}

const isThere = async (name: string) =>
  (await findPod(cluster, { namespace: NAMESPACE, name })) !== undefined;
const gone = (name: string) => waitFor(`the end of ${name}`, async () => !(await isThere(name)));
const marked = async () =>
  (
    await database.db
      .selectFrom('workers')
      .select('pod_name')
      .where('pod_deleted_at', 'is not', null)
      .execute()
  ).map((row) => row.pod_name);

describe('pods of ended workers (E7)', () => {
  test('go after their grace, and not before', async () => {
    const [old, young] = [await putEnded({ minutes: 361 }), await putEnded({ minutes: 359 })];
    expect(await sweep()).toEqual({ deleted: 1, absent: 0, left: 0, failed: 0, secrets: 0 });
    await gone(old);
    expect(await isThere(young)).toBe(true);
    expect(await marked()).toEqual([old]);
    expect(await sweep()).toEqual({ deleted: 0, absent: 0, left: 0, failed: 0, secrets: 0 });
  });

  test('that succeeded and that failed have different graces', async () => {
    const failed = await putEnded({ status: 'failed', minutes: 30 });
    await putEnded({ status: 'completed', minutes: 30 });
    expect(await sweep({ failedGraceMs: 20 * 60_000 })).toMatchObject({ deleted: 1 });
    await gone(failed);
    expect(await marked()).toEqual([failed]);
  });

  test('that are gone already are noted as gone', async () => {
    const name = await putEnded({ pod: 'none' });
    expect(await sweep()).toEqual({ deleted: 0, absent: 1, left: 0, failed: 0, secrets: 0 });
    expect(await marked()).toEqual([name]);
  });

  test('are never deleted while they run, even if the row has ended (P2)', async () => {
    const name = await putEnded({ pod: 'running' });
    expect(await sweep()).toEqual({ deleted: 0, absent: 0, left: 1, failed: 0, secrets: 0 });
    expect(stillRunning).toEqual([name]);
    expect(await isThere(name)).toBe(true);
    expect(await marked()).toEqual([]);
  });

  test('that never started, and have changed since they were looked at, are looked at again (P2)', async () => {
    const name = await putEnded({ pod: 'unstarted' });
    const path = objectPath(NAMESPACE, 'pods', name);
    const body = { metadata: { annotations: { 'test.paddock/seen': 'by another client' } } };
    const racing: Cluster = {
      ...cluster,
      send: async (call) => {
        const touch = {
          method: 'PATCH',
          path,
          body,
          contentType: 'application/merge-patch+json',
        } as const;
        if (call.method === 'DELETE') await callJson(cluster, touch);
        return cluster.send(call);
      },
    };
    expect(await sweep({ cluster: racing })).toMatchObject({ deleted: 0, left: 1 });
    expect(await isThere(name)).toBe(true);
  });

  test('that never started go as well, as they were seen: made when their worker had ended, they have no Secret (C6)', async () => {
    const name = await putEnded({ status: 'failed', pod: 'unstarted' });
    kube.failNext({ method: 'DELETE', status: 409, reason: 'Conflict' });
    expect(await sweep()).toEqual({ deleted: 0, absent: 0, left: 1, failed: 0, secrets: 0 });
    expect(await isThere(name)).toBe(true);
    expect(await sweep()).toEqual({ deleted: 1, absent: 0, left: 0, failed: 0, secrets: 0 });
    await gone(name);
    expect(await marked()).toEqual([name]);
  });

  test('of another uid than the row’s are another pod, and are left alone', async () => {
    const name = await putEnded({ podUid: '00000000-0000-0000-0000-000000000000' });
    expect(await sweep()).toMatchObject({ absent: 1, deleted: 0 });
    expect(await isThere(name)).toBe(true);
  });

  test('whose uid no row knows go by the uid that is found', async () => {
    const name = await putEnded({ podUid: null });
    expect(await sweep()).toMatchObject({ deleted: 1 });
    await gone(name);
  });

  test.each([0, 1, 2, 3])('are all gone after the next pass when call %d fails', async (after) => {
    const names = [await putEnded(), await putEnded()];
    kube.failNext({ status: 503, after });
    expect((await sweep()).failed).toBe(1);
    expect(failures).toEqual(['unavailable']);
    await sweep();
    expect((await marked()).toSorted()).toEqual(names.toSorted());
    for (const name of names) await gone(name);
  });

  test('are tried no further while the API server is away, ones in excess neither; a deletion that hangs holds up no other (P6)', async () => {
    for (let made = 0; made < 3; made += 1) await putEnded();
    await putEnded({ minutes: 10 });
    kube.failNext({ status: 503, times: 1_000 });
    expect(await sweep({ keptPerNamespace: 0 })).toMatchObject({ failed: 1, deleted: 0 });
    expect(failures).toEqual(['unavailable']);
    kube.clearFaults();
    kube.failNext({ method: 'DELETE', status: 504 });
    expect(await sweep()).toMatchObject({ failed: 1, deleted: 2 });
  });

  test('are noted by the next pass when the answer to a deletion was lost', async () => {
    const name = await putEnded();
    kube.failNext({ method: 'DELETE', afterCommit: true, status: 504 });
    expect(await sweep()).toMatchObject({ failed: 1 });
    await gone(name);
    expect(await sweep()).toMatchObject({ absent: 1 });
    expect(await marked()).toEqual([name]);
  });

  test('go before their time when a namespace has too many: successful ones first, among these the longest ended', async () => {
    const failed = [
      await putEnded({ status: 'failed', minutes: 50 }),
      await putEnded({ status: 'failed', minutes: 40 }),
    ];
    const succeeded = [
      await putEnded({ minutes: 30 }),
      await putEnded({ minutes: 20 }),
      await putEnded({ minutes: 10 }),
    ];
    expect(await sweep({ keptPerNamespace: 3, dryRun: true })).toMatchObject({ deleted: 2 });
    expect(await sweep({ keptPerNamespace: 3 })).toMatchObject({ deleted: 2 });
    expect((await marked()).toSorted()).toEqual(succeeded.slice(0, 2).toSorted());
    expect(await sweep({ keptPerNamespace: 1 })).toMatchObject({ deleted: 2 });
    expect(await isThere(failed[1] ?? '')).toBe(true);
  });

  test('are no more in one pass than the cap, the longest ended first, and the next pass goes on', async () => {
    const names = [
      await putEnded({ minutes: 500 }),
      await putEnded({ minutes: 450 }),
      await putEnded({ minutes: 20 }),
    ];
    expect(await sweep({ cap: 1, keptPerNamespace: 0 })).toMatchObject({ deleted: 1 });
    expect(await marked()).toEqual(names.slice(0, 1));
    expect(await sweep({ cap: 0, keptPerNamespace: 0 })).toMatchObject({ deleted: 0 });
    expect(await sweep({ cap: 2, keptPerNamespace: 0 })).toMatchObject({ deleted: 2 });
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
    const name = await putEnded();
    expect(await sweep({ dryRun: true })).toEqual({
      deleted: 1,
      absent: 0,
      left: 0,
      failed: 0,
      secrets: 0,
    });
    expect(await marked()).toEqual([]);
    expect(kube.report().calls['delete pods']).toBeUndefined();
    await sweep();
    await gone(name);
  });
});
