import { describe, expect, test } from '@jest/globals';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { emptyTables } from '@paddock/testing/empty-tables';
import { waitFor } from '@paddock/testing/wait-for';
import { lasting } from '../scenes/adopted-rows.scene.ts';
import { takeList } from './follow-pods.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
const followed = useFollowedPods(world);
const relist = async (pods?: readonly ObservedPod[]) =>
  takeList(followed.parts, 'runners', pods ?? (await followed.list()), []);
const kinds = async () =>
  (
    await world.db
      .selectFrom('tasks')
      .select('kind')
      .where('subject_type', '=', 'worker')
      .orderBy('kind')
      .execute()
  ).map(({ kind }) => kind);
const podOf = async (name: string) => {
  const pod = (await followed.list()).find((each) => each.name === name);
  if (pod === undefined) throw new Error(`the pod ${name} is gone`);
  return pod;
};

type End = 'succeeded' | 'failed';

/** As the matcher wants them, with `count` pods that run. */
async function makeWorkers(count: number): Promise<string[]> {
  await world.match();
  await world.runTasks();
  await waitFor(
    'the pods to run',
    async () => (await followed.list()).filter(({ phase }) => phase === 'Running').length === count,
  );
  return (await world.workers()).map(({ pod_name }) => pod_name);
}

/**
 * Workers whose pods run, or have ended as told, and whose rows the follower has brought to that.
 */
async function startWorkers(...ends: (End | undefined)[]) {
  await Promise.all(ends.map(() => world.queueJob()));
  const names = await makeWorkers(ends.length);
  for (const [index, end] of ends.entries()) {
    if (end === undefined) continue;
    world.kube.endPod({
      namespace: 'runners',
      name: names[index] ?? '',
      end,
      exitCode: end === 'failed' ? 1 : undefined,
    });
  }
  const ended = ends.filter((end) => end !== undefined).length;
  await waitFor(
    'the pods to end',
    async () => (await followed.list()).filter((pod) => pod.containersTerminated).length === ended,
  );
  await relist();
  return world.workers();
}

async function startWorker(end?: End) {
  const [worker] = await startWorkers(end);
  if (worker === undefined) throw new Error('no worker was made');
  return worker;
}

async function row(name: string) {
  const found = (await world.workers()).find((worker) => worker.pod_name === name);
  if (found === undefined) throw new Error(`the worker ${name} has no row`);
  return found;
}

const statuses = async () =>
  new Map((await world.workers()).map(({ pod_name, status }) => [pod_name, status]));

function without<T extends object, K extends keyof T>(value: T, ...keys: K[]): Omit<T, K> {
  const copy = { ...value };
  for (const key of keys) delete copy[key];
  return copy;
}

/** As after a restore of an older state: there is neither the worker's row nor its task. */
async function forget(...more: ('jobs' | 'installations')[]): Promise<void> {
  await emptyTables(world.db, ['tasks', 'workers', ...more]);
}

describe('one of our pods without a row is adopted (E6)', () => {
  test.each([
    ['while it runs', undefined],
    ['after it succeeded', 'succeeded'],
    ['after it failed', 'failed'],
  ] as const)('%s: the row is as before, with the pod’s own instants', async (_when, end) => {
    const before = await startWorker(end);
    await forget();
    expect(await world.growth('paddock_events_total{event="podAdopted"}', () => relist())).toBe(1);
    const after = await row(before.pod_name);
    expect(lasting(after)).toEqual(lasting(before));
    expect(after.registered_at).not.toBeNull();
    expect(after.registration_started_at).not.toBeNull();
    expect(after.pod_created_at).toEqual((await podOf(before.pod_name)).createdAt);
  });

  test('its end has the usual effects: its Secret goes, a failure is diagnosed, an unexplained end counts for a job, old failures count against no key', async () => {
    await startWorkers('succeeded', 'failed');
    expect(await world.failing()).toMatchObject([{ failures: 1 }]);
    await world.db.deleteFrom('demand_keys').execute();
    await forget();
    await relist();
    expect(await kinds()).toEqual(['diagnose-pod', 'remove-secret', 'remove-secret']);
    const unexplained = (await world.workers()).filter(
      (worker) => worker.unexplained_until !== null,
    );
    expect(unexplained.map(({ status }) => status)).toEqual(['completed']);
    expect(await world.failing()).toEqual([]);
  });

  test('it counts as supply: no second worker is made for its job (P3)', async () => {
    await startWorker();
    await forget();
    await relist();
    expect(await world.match()).toMatchObject({ reserved: 0 });
  });

  test('its own annotations give the facts of an entity that the database has lost', async () => {
    const before = await startWorker();
    await forget('jobs', 'installations');
    await relist();
    const after = await row(before.pod_name);
    const { entity_name, entity_type, app_id, installation_id, demand_key } = before;
    expect(after).toMatchObject({
      entity_name,
      entity_type,
      app_id,
      installation_id,
      demand_key,
      status: 'running',
    });
  });

  test('a job that is known to run on it is bound to it (B7, P2)', async () => {
    const before = await startWorker();
    await forget();
    await world.db
      .updateTable('jobs')
      .set({ status: 'running', wants_worker: false, runner_name: before.pod_name })
      .execute();
    await relist();
    const after = await row(before.pod_name);
    expect(after.assigned_job_id).toBe(before.made_for_job_id);
    expect(after.assigned_at).not.toBeNull();
  });

  test('two followers at once make one row, and each goes on', async () => {
    await startWorkers(undefined, 'succeeded', 'failed', undefined);
    const before = await statuses();
    await forget();
    const pods = await followed.list();
    await Promise.all([relist(pods), relist(pods.toReversed()), relist(pods)]);
    expect(await statuses()).toEqual(before);
    expect(await kinds()).toEqual(['diagnose-pod', 'remove-secret', 'remove-secret']);
  });
});

describe('a pod is left alone, and its neighbours are still adopted (E6)', () => {
  test.each<[string, (pod: ObservedPod) => ObservedPod]>([
    ['whose labels cannot be read', (pod) => without(pod, 'worker')],
    ['whose name we never give', (pod) => ({ ...pod, name: 'debug-copy' })],
    ['whose name no row takes', (pod) => ({ ...pod, name: `${pod.name}.x` })],
    [
      'of an unknown entity',
      (pod) => {
        if (pod.worker === undefined) throw new Error('the pod is not ours');
        return {
          ...pod,
          worker: { ...without(pod.worker, 'entity', 'madeForJobId'), entityId: 4_711 },
        };
      },
    ],
  ])('%s', async (_which, disguise) => {
    const [strange = '', plain = ''] = (await startWorkers('succeeded', undefined)).map(
      ({ pod_name }) => pod_name,
    );
    await forget();
    const reported: (readonly string[])[] = [];
    const told = (namespace: string, names: readonly string[]) => {
      reported.push(names);
      world.events.podsWithoutRow(namespace, names);
    };
    const events = { ...world.events, podsWithoutRow: told };
    const pods = (await followed.list()).map((pod) => (pod.name === strange ? disguise(pod) : pod));
    const take = () => takeList({ ...followed.parts, events }, 'runners', pods, []);
    expect(await world.growth('paddock_pods_without_row{namespace="runners"}', take)).toBe(1);
    expect((await world.workers()).map(({ pod_name }) => pod_name)).toEqual([plain]);
    expect(reported).toEqual([[disguise(await podOf(strange)).name]]);
    // Another replica may follow from now on: this one must drop its metrics.
    const follow = async () => {
      const stop = world.follow();
      await waitFor(
        'the lease',
        async () => (await world.db.selectFrom('leases').select('name').execute()).length > 0,
      );
      await stop();
    };
    expect(await world.growth('paddock_pods_without_row', follow)).toBe(-1);
  });
});
