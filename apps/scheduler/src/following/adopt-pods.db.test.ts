import { describe, expect, test } from '@jest/globals';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { emptyTables } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { matchOnce } from '../matching/match.ts';
import type { End } from '../scenes/followed-pods.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { createPodsSync } from './sync-pods.ts';

const world = useSchedulerWorld({ playRunners: false });
const pods = useFollowedPods(world);

/**
 * Workers whose pods run, or have ended as told, and whose rows the follower has brought to that.
 */
async function startWorkers(...ends: (End | undefined)[]): Promise<string[]> {
  const names = (await pods.makeWorkers(ends.length)).map(({ name }) => name);
  for (const [index, end] of ends.entries())
    if (end !== undefined) await pods.endPod(names[index] ?? '', end);
  await pods.relist();
  return names;
}

async function startWorker(end?: End) {
  const [name = ''] = await startWorkers(end);
  return pods.row(name);
}

/** As after a restore of an older state: there is neither the worker's row nor its task. */
const forget = (...more: ('jobs' | 'installations')[]) =>
  emptyTables(world.db, ['tasks', 'workers', ...more]);
const relist = async (shown?: readonly ObservedPod[]) => pods.take(shown ?? (await pods.list()));
const TASKS = ['diagnose-pod', 'look-up-jobs', 'remove-secret', 'remove-secret'];

describe('one of our pods without a row is adopted (E6)', () => {
  test.each([
    ['while it runs', undefined],
    ['after it succeeded', 'succeeded'],
    ['after it failed', 'failed'],
  ] as const)('%s: the row is as before, with the pod’s own instants', async (_when, end) => {
    const {
      failure_info: _diagnosis,
      unexplained_until: _until,
      ...before
    } = await startWorker(end);
    await forget();
    expect(await world.growth('paddock_events_total{event="podAdopted"}', () => relist())).toBe(1);
    // The instants are those of its making, and a failure is diagnosed again.
    expect(await pods.row(before.pod_name)).toMatchObject({
      ...before,
      created_at: expect.any(Date),
      updated_at: expect.any(Date),
      registered_at: expect.any(Date),
      registration_started_at: expect.any(Date),
      pod_created_at: (await pods.find(before.pod_name))?.createdAt,
      revision: expect.anything(),
      runner_id: null,
      registered_labels: null,
      secret_deleted_at: null,
    });
  });

  test('its end has the usual effects: its Secret goes, a failure is diagnosed, an unexplained end counts for a job, old failures count against no key', async () => {
    await startWorkers('succeeded', 'failed');
    expect(await world.failing()).toMatchObject([{ failures: 1 }]);
    await world.db.deleteFrom('demand_keys').execute();
    await forget();
    await relist();
    expect(await pods.tasks()).toEqual(TASKS);
    const rows = await world.workers();
    expect(
      rows.filter((row) => row.unexplained_until !== null).map(({ status }) => status),
    ).toEqual(['completed']);
    expect(await world.failing()).toEqual([]);
  });

  test('its own annotations give the facts of an entity that the database has lost', async () => {
    const before = await startWorker();
    await forget('jobs', 'installations');
    await relist();
    const { pod_name, entity_name, entity_type, app_id, installation_id, demand_key } = before;
    const facts = { entity_name, entity_type, app_id, installation_id, demand_key };
    expect(await pods.row(pod_name)).toMatchObject({ ...facts, status: 'running' });
  });

  test('a job that is known to run on it is bound to it (B7, P2)', async () => {
    const before = await startWorker();
    await forget();
    await world.db
      .updateTable('jobs')
      .set({ status: 'running', wants_worker: false, runner_name: before.pod_name })
      .execute();
    await relist();
    expect(await pods.row(before.pod_name)).toMatchObject({
      assigned_job_id: before.made_for_job_id,
      assigned_at: expect.any(Date),
    });
  });

  test('two followers at once make one row, and each goes on', async () => {
    await startWorkers(undefined, 'succeeded', 'failed', undefined);
    const before = await pods.statuses();
    await forget();
    const shown = await pods.list();
    await Promise.all([relist(shown), relist(shown.toReversed()), relist(shown)]);
    expect(await pods.statuses()).toEqual(before);
    expect(await pods.tasks()).toEqual(TASKS);
  });
});

test.each<[string, (pod: ObservedPod) => ObservedPod]>([
  ['whose labels cannot be read', (pod) => ({ ...pod, worker: undefined })],
  ['whose name we never give', (pod) => ({ ...pod, name: 'debug-copy' })],
  ['whose name no row takes', (pod) => ({ ...pod, name: `${pod.name}.x` })],
  [
    'of an unknown entity',
    (pod) => {
      const unknown = { entity: undefined, madeForJobId: undefined, entityId: 4_711 };
      return { ...pod, worker: pod.worker && { ...pod.worker, ...unknown } };
    },
  ],
])(
  'a pod is left alone, and its neighbours are still adopted: %s (E6)',
  async (_which, disguise) => {
    const [strange, plain] = await startWorkers('succeeded', undefined);
    await forget();
    const shown = (await pods.list()).map((pod) => (pod.name === strange ? disguise(pod) : pod));
    const take = () => relist(shown);
    expect(await world.growth('paddock_pods_without_row{namespace="runners"}', take)).toBe(1);
    expect([...(await pods.statuses()).keys()]).toEqual([plain]);
    // Another replica may follow from now on: this one must drop its metrics.
    const follow = async () => {
      const stop = world.follow();
      const leases = () => world.db.selectFrom('leases').select('name').execute();
      await waitFor('the lease', async () => (await leases()).length > 0);
      await stop();
    };
    expect(await world.growth('paddock_pods_without_row', follow)).toBe(-1);
  },
);

const { signal } = new AbortController();

/** A scheduler that has just begun. */
function begin() {
  const failures: (() => void)[] = [];
  let synced = 0;
  const sync = createPodsSync({
    ...pods.parts,
    outage: { onFailure: (act) => void failures.push(act) },
    onSynced: () => void synced++,
  });
  return {
    sync,
    loseConnection: () => failures.forEach((act) => act()),
    /** Whether it is synced, and how often it came to be. */
    state: () => [sync.isSynced(), synced],
    mayMake: () => sync.before((mayMake) => Promise.resolve(mayMake), signal),
  };
}

describe('before a scheduler makes workers, it adopts all pods (E6, C4)', () => {
  test.each([
    ['a job that comes back stays within the cap', 0],
    ['reservations of the backup are given back where the adopted pods leave no room', 1],
  ])('%s', async (_what, reserved) => {
    await world.putPools({ ...world.pools, entities: { acme: { maxWorkers: 2, weight: 1 } } });
    await startWorkers(undefined, undefined);
    await forget('jobs');
    await world.queueJob();
    for (let pass = 0; pass < reserved; pass += 1) await world.match();
    const { sync, state } = begin();
    const pass = async (mayMake: boolean) => {
      expect([mayMake, state()]).toEqual([true, [false, 0]]);
      return matchOnce(world.parts.db, GATE);
    };
    const { reserved: made, ended } = await sync.before(pass, signal);
    expect([made, ended.length, state()]).toEqual([[], reserved, [true, 1]]);
  });

  test('it is due at the start and after each failure of PostgreSQL, and one during a pass is not made good by it', async () => {
    const scheduler = begin();
    expect([await scheduler.mayMake(), scheduler.state()]).toEqual([true, [true, 1]]);
    scheduler.loseConnection();
    const fails = scheduler.sync.before(() => {
      scheduler.loseConnection();
      return Promise.reject(new Error('cut'));
    }, signal);
    await expect(fails).rejects.toThrow('cut');
    expect(scheduler.state()).toEqual([false, 1]);
    expect([await scheduler.mayMake(), scheduler.state()]).toEqual([true, [true, 2]]);
  });

  test('while the cluster is away no worker is made, and the first pass after its return may', async () => {
    const scheduler = begin();
    world.kube.failNext({ status: 503, times: 10_000 });
    expect([await scheduler.mayMake(), scheduler.state()]).toEqual([false, [false, 0]]);
    world.kube.clearFaults();
    expect([await scheduler.mayMake(), scheduler.state()]).toEqual([true, [true, 1]]);
  });

  test.each([429, 500])(
    'one list that fails with %d loses no pod, which would exceed a cap (C4)',
    async (status) => {
      const [name] = await startWorkers(undefined);
      await forget();
      world.kube.failNext({ path: '/pods$', status });
      expect(await begin().mayMake()).toBe(true);
      expect(await world.alive()).toMatchObject([{ pod_name: name }]);
    },
  );

  test.each([403, 500])('a namespace that answers %d holds back no other (P6)', async (status) => {
    await pods.set(await pods.startWorker(), { namespace: 'others' });
    world.kube.failNext({ path: '/namespaces/others/pods$', status, times: 10_000 });
    const scheduler = begin();
    expect([await scheduler.mayMake(), scheduler.state()]).toEqual([true, [true, 1]]);
  });
});
