import { describe, expect, test } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import { lockPlanned } from '@paddock/db/matching/matching-lock';
import {
  minutesAgo,
  putInstallation,
  putJob,
  putPools,
  putWorker,
} from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { useMatching } from '../scenes/matching.scene.ts';

const scene = useMatching({});

const reserve = async () => (await scene.match()).reserved;
const tasks = async () =>
  (
    await scene.db
      .selectFrom('tasks')
      .select(['kind', 'subject_id', 'delivery_guid'])
      .orderBy('subject_id')
      .execute()
  ).map((task) => [task.kind, task.subject_id, task.delivery_guid]);
/** A worker whose runner was registered `minutes` ago. */
const putRegistered = async (minutes: number, given: Parameters<typeof putWorker>[1] = {}) => {
  const at = minutesAgo(minutes);
  const times = { created_at: at, registration_started_at: at, registered_at: at, running_at: at };
  const row = { status: 'running', pod_uid: crypto.randomUUID(), ...times, ...given } as const;
  return (await putWorker(scene.db, row)).pod_name;
};
const stopReasons = async () =>
  Object.fromEntries(
    (await scene.workers()).map((worker) => [worker.pod_name, worker.stop_reason]),
  );

describe('reserving workers', () => {
  test('makes one worker per waiting job, for the oldest first, with its task, once; no job is written (C2, C3, C4, C6, D14)', async () => {
    const younger = await putJob(scene.db, { created_at: new Date('2026-01-02') });
    const older = await putJob(scene.db, {
      created_at: new Date('2026-01-01'),
      delivery_guid: 'of older',
    });
    const made = [...(await scene.match({ most: 1 })).reserved, ...(await reserve())];
    expect(made.map((worker) => worker.madeForJobId)).toEqual([older.job_id, younger.job_id]);
    expect(await tasks()).toEqual(
      made
        .toSorted((a, b) => (a.podName < b.podName ? -1 : 1))
        .map((worker) => ['provision-worker', worker.podName, worker.deliveryGuid]),
    );
    expect(made.map((worker) => worker.deliveryGuid)).toEqual(['of older', null]);
    expect(await reserve()).toEqual([]);
    const later = await putJob(scene.db);
    expect(await reserve()).toMatchObject([{ madeForJobId: later.job_id }]);
    expect(await scene.db.selectFrom('jobs').selectAll().orderBy('job_id').execute()).toEqual([
      younger,
      older,
      later,
    ]);
  });

  test('names a worker by instance and pool, within 60 characters, and copies the facts of its job (A3, A8)', async () => {
    const name = 'a-pool-whose-name-is-as-long-3';
    const pool = { name, labels: ['long'], image: 'long:2', namespace: 'elsewhere' };
    await putPools(scene.db, { pools: [pool] });
    const job = await putJob(scene.db, { k8s_pool: name, job_labels: '["long"]' });
    await reserve();
    const instance = await findInstance(scene.db);
    const named = new RegExp(`^(?=.{1,60}$)pdk-${instance}-${name}-[0-9a-f]{12}$`);
    expect(await scene.workers()).toMatchObject([
      {
        pod_name: expect.stringMatching(named),
        status: 'pending',
        job_labels: ['long'],
        k8s_image: 'long:2',
        namespace: 'elsewhere',
        made_for_job_id: job.job_id,
        demand_key: job.demand_key,
        repo_full_name: null,
      },
    ]);
  });

  test('makes another worker for a job whose own is being stopped (C3)', async () => {
    const job = await putJob(scene.db);
    await reserve();
    const stop = { stopping_at: new Date(), stop_reason: 'pending_timeout' } as const;
    await scene.changeWorkers({ registration_started_at: new Date(), ...stop });
    expect(await reserve()).toMatchObject([{ madeForJobId: job.job_id }]);
  });

  test('counts a worker that is stopping in the caps, and not as supply (A3, C3)', async () => {
    await putPools(scene.db, { pools: [{ maxWorkers: 1 }] });
    await scene.putJobs(1);
    await reserve();
    await scene.changeWorkers({ stopping_at: new Date(), registration_started_at: new Date() });
    expect(await reserve()).toEqual([]);
    expect(await scene.keys()).toEqual([['acme', 'linux', 0, 'at_pool_cap']]);
  });

  test('sets an unexplained end against one waiting job until its grace is over (C3)', async () => {
    await scene.putJobs(2);
    const [made] = await reserve();
    const end = { status: 'completed', completed_at: new Date() } as const;
    await scene.changeWorkers({ ...end, unexplained_until: minutesAgo(-1) }, made?.podName);
    expect(await reserve()).toEqual([]);
    await scene.changeWorkers({ unexplained_until: minutesAgo(0) }, made?.podName);
    expect(await reserve()).toHaveLength(1);
  });

  test('keeps nothing when the enqueuing fails: no worker without its task (D14)', async () => {
    await scene.putJobs(1);
    await sql`alter table tasks add constraint refuse check (kind <> 'provision-worker')`.execute(
      scene.db,
    );
    await expect(scene.match()).rejects.toThrow('refuse');
    await sql`alter table tasks drop constraint refuse`.execute(scene.db);
    expect(await scene.workers()).toEqual([]);
    expect(await reserve()).toHaveLength(1);
  });

  test.each([
    ['jobs wait for', () => scene.putJobs(2)],
    [
      'are kept warm',
      async () => {
        await putInstallation(scene.db);
        await putPools(scene.db, { pools: [{ warm: [{ scope: 'acme', workers: 2 }] }] });
      },
    ],
  ])(
    'a name that is taken makes one fewer of those that %s, which the next pass makes (A5)',
    async (_what, arrange) => {
      await arrange();
      await sql`create function take_one_name() returns trigger language plpgsql as $$ begin new.pod_name := 'pdk-taken'; return new; end $$`.execute(
        scene.db,
      );
      await sql`create trigger one_name before insert on workers for each row execute function take_one_name()`.execute(
        scene.db,
      );
      const { length } = await reserve();
      await sql`drop function take_one_name() cascade`.execute(scene.db);
      expect([length, (await reserve()).length]).toEqual([1, 1]);
    },
  );

  test('writes a key’s row only on a change, keeps since when it waits, and removes it at rest (A12)', async () => {
    const keys = () => scene.db.selectFrom('demand_keys').selectAll().execute();
    await putPools(scene.db, { pools: [{ maxWorkers: 0 }] });
    await scene.putJobs(1);
    await reserve();
    const before = await keys();
    await reserve();
    expect(await keys()).toEqual(before);
    await scene.putJobs(1);
    await reserve();
    expect(await keys()).toMatchObject([{ waiting: 2, wait_since: before[0]?.wait_since }]);
    await scene.changeJobs({ wants_worker: false });
    await reserve();
    expect(await keys()).toEqual([]);
  });
});

describe('giving reservations back', () => {
  test('ends reservations whose demand has gone, and only as many (C3, P3)', async () => {
    const { job_id: gone } = await putJob(scene.db);
    await scene.putJobs(2);
    await reserve();
    await scene.db
      .updateTable('jobs')
      .set({ wants_worker: false })
      .where('job_id', '=', gone)
      .execute();
    expect((await scene.match()).ended).toHaveLength(1);
    expect((await scene.workers()).filter(({ status }) => status === 'failed')).toMatchObject([
      {
        stop_reason: 'unwanted',
        failure_info: { version: 1, message: 'no longer wanted' },
        completed_at: expect.any(Date),
        secret_deleted_at: expect.any(Date),
      },
    ]);
  });

  test('passes over a row that provisioning is just now marking, and over one that it has marked (C5, P2)', async () => {
    await scene.putJobs(1);
    await reserve();
    await scene.changeJobs({ wants_worker: false });
    await scene.db.transaction().execute(async (marking) => {
      await marking.updateTable('workers').set({ registration_started_at: new Date() }).execute();
      expect((await scene.match()).ended).toEqual([]);
    });
    expect((await scene.match()).ended).toEqual([]);
    // Or has marked since the plan was made.
    const names = (await scene.workers()).map((worker) => worker.pod_name);
    const plan = { giveBack: names, takeBack: [], warm: { mark: [], renew: [], make: [] } };
    expect(await scene.db.transaction().execute((trx) => lockPlanned(trx, plan))).toEqual(names);
    expect(await scene.alive()).toHaveLength(1);
  });
});

describe('stopping spare workers (C3)', () => {
  test('registered workers beyond the waiting jobs, the oldest first, each once, with its task (D14)', async () => {
    const [oldest, middle, newest] = [
      await putRegistered(30, { delivery_guid: 'guid' }),
      await putRegistered(20, { delivery_guid: 'guid' }),
      await putRegistered(10),
    ];
    await scene.putJobs(1);
    const { stopped } = await scene.match();
    expect(stopped.map(({ podName }) => podName).toSorted()).toEqual([oldest, middle].toSorted());
    expect(await stopReasons()).toEqual({
      [oldest]: 'surplus',
      [middle]: 'surplus',
      [newest]: null,
    });
    expect(await tasks()).toEqual(
      [oldest, middle].toSorted().map((name) => ['stop-worker', name, 'guid']),
    );
    expect((await scene.match()).stopped).toEqual([]);
    expect(await scene.alive()).toHaveLength(3);
  });

  test('only after a minute, but at once where a cap keeps a job from its worker (C3)', async () => {
    const aMinute = { surplusAfterMs: 60_000 };
    const young = await putRegistered(0.5);
    expect((await scene.match(aMinute)).stopped).toEqual([]);
    const pools = [{}, { name: 'gpu', labels: ['gpu'] }];
    await putPools(scene.db, { pools, entities: { '*': { maxWorkers: 1 } } });
    await putJob(scene.db, { k8s_pool: 'gpu' });
    expect((await scene.match(aMinute)).stopped).toMatchObject([{ podName: young }]);
  });

  test('never with a job, stopping, being registered, or serving an entity’s other key (P2)', async () => {
    await putRegistered(10, { assigned_at: minutesAgo(1) });
    await putRegistered(10, {
      stopping_at: minutesAgo(1),
      stop_reason: 'idle',
      deregistration_started_at: minutesAgo(1),
    });
    await putWorker(scene.db, { registration_started_at: minutesAgo(1) });
    await putRegistered(10, { k8s_pool: 'gpu' });
    await putPools(scene.db, { pools: [{}, { name: 'gpu', labels: ['gpu'] }] });
    await putJob(scene.db, { k8s_pool: 'gpu' });
    expect(await scene.match()).toMatchObject({ stopped: [], ended: [] });
  });

  test('are passed over while another transaction writes them, without waiting (C5)', async () => {
    await putRegistered(10);
    await scene.db.transaction().execute(async (binding) => {
      await binding.updateTable('workers').set({ assigned_at: new Date() }).execute();
      expect((await scene.match()).stopped).toEqual([]);
    });
    expect((await scene.match()).stopped).toEqual([]);
  });

  test.each([
    ['one that runs serves the next job', {}, ['stop-worker']],
    ['one without a pod is made again', { pod_uid: null }, ['provision-worker', 'stop-worker']],
  ])('is called off: %s, and none is made beside it (P3)', async (_what, row, kinds) => {
    const podName = await putRegistered(10, row);
    expect((await scene.match()).stopped).toHaveLength(1);
    await scene.putJobs(1);
    expect(await scene.match()).toMatchObject({
      takenBack: [{ podName }],
      reserved: [],
      lacking: 0,
    });
    expect(await scene.workers()).toMatchObject([{ stop_reason: null, stopping_at: null }]);
    expect(new Set((await tasks()).map(([kind]) => kind))).toEqual(new Set(kinds));
  });
});
