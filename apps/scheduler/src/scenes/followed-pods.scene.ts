import type { Database } from '@paddock/db/schema/tables';
import { findInstance } from '@paddock/db/instance';
import { findKnownPods } from '@paddock/db/workers/worker-pods';
import { deletePod, listPods } from '@paddock/kube/pods';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { waitFor } from '@paddock/testing/wait-for';
import type { UpdateObject } from 'kysely';
import { takeChanges, takeList } from '../following/follow-pods.ts';
import { NAMESPACE, type SchedulerWorld } from './scheduler.scene.ts';
import { FOLLOWING } from './settings.scene.ts';

export type End = 'succeeded' | 'failed' | 'oom' | 'drained';

/** A change as a watch reports it. */
export const change = (type: 'modified' | 'deleted', pod: ObservedPod) => ({
  type,
  pod,
  resourceVersion: pod.resourceVersion,
});

const runs = ({ phase }: ObservedPod): boolean => phase === 'Running';

/** Pods of workers as the cluster has them, and the states of their rows. */
export async function followedPods(world: SchedulerWorld, rules: Partial<typeof FOLLOWING> = {}) {
  const { db, cluster } = world;
  const instance = await findInstance(db);
  const parts = { ...world.parts, ...FOLLOWING, ...rules };
  const list = async () => (await listPods(cluster, { namespace: NAMESPACE, instance })).pods;
  const find = async (name: string) => (await list()).find((pod) => pod.name === name);
  const take = async (pods: readonly ObservedPod[], known: readonly string[] = []) =>
    takeList(parts, NAMESPACE, pods, known);
  const relist = async (): Promise<void> => {
    const known = await findKnownPods(db, NAMESPACE);
    await take(await list(), known);
  };
  const endPod = async (name: string, end: End, exitCode?: number): Promise<void> => {
    world.kube.endPod({ namespace: NAMESPACE, name, end, exitCode });
    await waitFor('the pod to end', async () => {
      const phase = (await find(name))?.phase;
      return phase === 'Succeeded' || phase === 'Failed';
    });
  };
  /**
   * Makes the workers of so many more jobs. Returns their pods, once they run, or are as wanted;
   * their rows do not know of that yet.
   */
  const makeWorkers = async (count: number, isSo = runs): Promise<readonly ObservedPod[]> => {
    await world.queueJobs(count);
    await world.match();
    await world.runTasks();
    const rows = (await world.workers()).slice(-count);
    return waitFor('the pods to be as wanted', async () => {
      const pods = await list();
      const wanted = rows.flatMap((row) => pods.find(({ name }) => name === row.pod_name) ?? []);
      return wanted.length === count && wanted.every(isSo) ? wanted : undefined;
    });
  };
  const makePod = async (isSo = runs): Promise<ObservedPod> => {
    const [pod] = await makeWorkers(1, isSo);
    if (pod === undefined) throw new Error('no worker was made');
    return pod;
  };
  return {
    parts,
    list,
    find,
    take,
    relist,
    endPod,
    makeWorkers,
    makePod,
    row: async (podName: string) =>
      db
        .selectFrom('workers')
        .selectAll()
        .where('pod_name', '=', podName)
        .executeTakeFirstOrThrow(),
    set: async (podName: string, columns: UpdateObject<Database, 'workers'>) =>
      db.updateTable('workers').set(columns).where('pod_name', '=', podName).execute(),
    statuses: async () =>
      new Map((await world.workers()).map(({ pod_name, status }) => [pod_name, status])),
    /** The kinds of the tasks that wait. */
    tasks: async () =>
      (await db.selectFrom('tasks').select('kind').orderBy('kind').execute()).map(
        ({ kind }) => kind,
      ),
    /** A change of a pod, as the watch shows it. */
    see: (pod: ObservedPod, changed: Partial<ObservedPod> = {}) =>
      takeChanges(parts, [change('modified', { ...pod, ...changed })]),
    /** A worker whose pod runs, or has ended as told; its row does not know of either yet. */
    async startWorker(end?: End, exitCode?: number): Promise<string> {
      const { name } = await makePod();
      if (end !== undefined) await endPod(name, end, exitCode);
      return name;
    },
    /** A worker whose runner writes these lines and never comes to GitHub. */
    async silentWorker(...silentLog: string[]): Promise<string> {
      world.kube.setRunnerFaults({ silentRate: 1, silentLog });
      const { name } = await makePod();
      const written = () => world.kube.runnerLog(NAMESPACE, name).length;
      await waitFor('its log', () => written() >= silentLog.length);
      world.kube.setRunnerFaults({});
      return name;
    },
    /** A pod goes as if a person had deleted it; no replica follows pods meanwhile. */
    async losePod(name: string): Promise<void> {
      await deletePod(cluster, { namespace: NAMESPACE, name });
      await waitFor('the pod to be gone', async () => (await find(name)) === undefined);
    },
    /** How the pods of the pool begin, by the simulated node. */
    startsWith: (start: string) =>
      world.putPools({
        pools: [{ template: { metadata: { annotations: { 'test.paddock/start': start } } } }],
      }),
  };
}
