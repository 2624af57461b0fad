import { describe, expect, test } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { listPods } from '@paddock/kube/pods';
import { waitFor } from '@paddock/testing/wait-for';
import { emptyTables } from '@paddock/testing/empty-tables';
import { sql } from 'kysely';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';
import { takeList } from './follow-pods.ts';

const world = useSchedulerWorld({ playRunners: false });

const DAYS = 86_400_000;
const fromNow = (ms: number) => new Date(Date.now() + ms);

/** The pod of a new worker, running. */
async function startPod(): Promise<ObservedPod> {
  await world.queueJob();
  await world.match();
  await world.runTasks();
  const instance = await findInstance(world.db);
  return waitFor('the pod to run', async () => {
    const { pods } = await listPods(world.cluster, { namespace: 'runners', instance });
    return pods.find(({ phase }) => phase === 'Running');
  });
}

const seen = (pod: ObservedPod, changes: Partial<ObservedPod>) =>
  takeList({ ...world.parts, ...FOLLOWING }, 'runners', [{ ...pod, ...changes }], []);

const ENDED = {
  phase: 'Succeeded',
  containersTerminated: true,
  runner: { name: 'runner', state: 'terminated', exitCode: 0 },
} as const;

/** Whether these instants of the row lie between its making, to the second, and now. */
async function areTrue(...columns: readonly ('running_at' | 'completed_at' | 'pod_created_at')[]) {
  const { rows } = await sql<{ isTrue: boolean }>`
    select ${sql.join(
      columns.map(
        (column) => sql`${sql.ref(column)} between date_trunc('second', created_at) and now()`,
      ),
      sql` and `,
    )} as "isTrue" from workers`.execute(world.db);
  return rows.every(({ isTrue }) => isTrue);
}

describe('a clock of the cluster that is days off moves no deadline: the database’s time counts (E5, P6)', () => {
  test.each([
    ['ahead', 2 * DAYS],
    ['behind', -2 * DAYS],
  ])('a node’s, %s, at the start of a runner', async (_where, off) => {
    await seen(await startPod(), { runningAt: fromNow(off) });
    expect(await areTrue('running_at')).toBe(true);
  });

  test.each([
    ['ahead', 2 * DAYS],
    ['behind', -2 * DAYS],
  ])('a node’s, %s, from start to end', async (_where, off) => {
    const pod = await startPod();
    await seen(pod, { ...ENDED, runningAt: fromNow(off), endedAt: fromNow(off + 1_000) });
    expect(await areTrue('running_at', 'completed_at')).toBe(true);
  });

  test('the API server’s, ahead, in the age of a pod and the term of its deletion', async () => {
    const pod = await startPod();
    await world.db.updateTable('workers').set({ pod_created_at: null }).execute();
    await seen(pod, {
      createdAt: fromNow(2 * DAYS),
      deletionTimestamp: fromNow(2 * DAYS),
      deletionGraceSeconds: 30,
    });
    expect(await areTrue('pod_created_at')).toBe(true);
    const [worker] = await world.workers();
    expect(worker?.terminating_at?.getTime()).toBeLessThanOrEqual(Date.now() + 30_000);
  });

  test('the API server’s, ahead, when its pod is adopted (E6)', async () => {
    const pod = await startPod();
    await emptyTables(world.db, ['tasks', 'workers']);
    await seen(pod, { createdAt: fromNow(2 * DAYS), runningAt: fromNow(2 * DAYS) });
    expect(await areTrue('pod_created_at', 'running_at')).toBe(true);
  });

  test('possible instants stay as the pod reports them (A3)', async () => {
    const pod = await startPod();
    await world.db
      .updateTable('workers')
      .set({ created_at: sql`created_at - interval '1 hour'` })
      .execute();
    const runningAt = fromNow(-1_800_000);
    const endedAt = fromNow(-600_000);
    await seen(pod, { ...ENDED, runningAt, endedAt });
    expect(await world.workers()).toMatchObject([{ running_at: runningAt, completed_at: endedAt }]);
  });
});
