import { findInstance } from '@paddock/db/instance';
import { listPods } from '@paddock/kube/pods';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { expect } from '@jest/globals';
import { takeList } from '../following/follow-pods.ts';
import { NAMESPACE, type SchedulerWorld } from './scheduler.scene.ts';
import { FOLLOWING } from './settings.scene.ts';
import type { TestUser } from './users.scene.ts';

export const GPU = examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] });

/** The organisation acme attacks; sam has done nothing and uses the same pools. */
export async function besideAttackers(world: SchedulerWorld) {
  const sam = await world.addUser('sam', ['one']);
  const instance = await findInstance(world.db);
  const pods = async () => (await listPods(world.cluster, { namespace: NAMESPACE, instance })).pods;
  const workersOf = async (login: string) =>
    (await world.workers()).filter(({ entity_name: name }) => name === login);
  const living = async (login: string) =>
    (await workersOf(login)).filter(({ status }) => status === 'pending' || status === 'running');
  const servedOf = async (login: string, pool = 'linux') =>
    (await living(login)).filter(
      (worker) =>
        worker.k8s_pool === pool && worker.registered_at !== null && worker.pod_uid !== null,
    ).length;
  const reasonOf = async (login: string) =>
    (
      await world.db
        .selectFrom('demand_keys')
        .select('wait_reason')
        .where('entity_name', '=', login)
        .executeTakeFirst()
    )?.wait_reason;
  const queueOf = async (user: TestUser, count: number, pool = 'linux') => {
    for (let n = 0; n < count; n += 1) await world.queueJobOf(user, 'one', { k8s_pool: pool });
  };
  const queue = async (count: number, pool = 'linux') => {
    for (let n = 0; n < count; n += 1)
      await world.queueJob({ row: { k8s_pool: pool, job_labels: JSON.stringify([pool]) } });
  };
  const matchAndRun = async () => {
    await world.match();
    await world.makeDue();
    await world.runTasks();
  };
  return {
    sam,
    pods,
    workersOf,
    living,
    /** How many live workers are registered and have a pod. */
    servedOf,
    /** Why its jobs wait. */
    reasonOf,
    queueOf,
    /** Jobs of acme. */
    queue,
    matchAndRun,
    /** How many of five further jobs of sam have their runner at once. */
    async serveOthers(): Promise<number> {
      const before = await servedOf('sam');
      await queueOf(sam, 5);
      await matchAndRun();
      expect([await reasonOf('sam'), await world.outages()]).toEqual([null, []]);
      return (await servedOf('sam')) - before;
    },
    /** As if every wait and pause of the attackers were over: they try as often as they may. */
    async tryAgain(): Promise<void> {
      await world.endPauses();
      await world.endWaits();
      await world.endRefusedTimes();
      await matchAndRun();
    },
    /** Resolves once these workers' pods run, and the follower has seen it. */
    async seeRunning(names: readonly string[]): Promise<void> {
      const running = await waitFor('the pods to run', async () => {
        const list = (await pods()).filter(({ name }) => names.includes(name));
        const areUp =
          list.length === names.length && list.every(({ phase }) => phase === 'Running');
        return areUp ? list : undefined;
      });
      await takeList({ ...world.parts, ...FOLLOWING }, NAMESPACE, running, []);
    },
  };
}

export type Bystanders = Awaited<ReturnType<typeof besideAttackers>>;
