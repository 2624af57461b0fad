import { describe, expect, test } from '@jest/globals';
import { fc, seedsAnd } from '@paddock/testing/random-cases';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import {
  CAPS,
  ENDLESS_MS,
  ENTITIES,
  type EntityKey,
  type Freedom,
  startFreedom,
} from '../scenes/freedom.scene.ts';
import { step } from '../scenes/settings.scene.ts';

const FOUND = 1_089_904;
/** A net for a history that hangs: a busy machine takes minutes for all of them. */
const NET_MS = 900_000;

let world: Freedom;

const entity = fc.constantFrom<EntityKey>(...ENTITIES);
const labels = fc.constantFrom(
  ['linux'],
  ['self-hosted', 'linux'],
  ['linux', 'large'],
  ['large'],
  ['gpu'],
);
const manyJobs = fc.tuple(
  entity,
  fc.nat(1),
  labels,
  fc.constantFrom(1, 50, 300, ENDLESS_MS),
  fc.integer({ min: 1, max: 3 }),
);
const deliveryFaults = fc.constantFrom(
  {},
  { dropActions: ['in_progress'] },
  { dropActions: ['completed'] },
  { dropActions: ['in_progress', 'completed'] },
  { dropActions: ['queued'] },
  { lossRate: 0.5 },
  { delayMs: [0, 60] as const, duplicateRate: 0.5 },
);
const jobs = async () => (await world.gitHub.truth()).jobs;
const nthJob = async (isCompleted: boolean, nth: number) => {
  const of = (await jobs()).filter(({ status }) => (status === 'completed') === isCompleted);
  return of[nth % Math.max(of.length, 1)];
};

const steps = fc.oneof(
  step(10, 'queue', manyJobs, async ([owner, nth, of, durationMs, count]) => {
    for (let n = 0; n < count; n += 1) await world.queue(owner, nth, of, durationMs);
  }),
  step(3, 'cancel', fc.nat(100), async (nth) => {
    const job = await nthJob(false, nth);
    if (job !== undefined) await world.cancel(job.id);
  }),
  step(2, 'rerun', fc.nat(100), async (nth) => {
    const job = await nthJob(true, nth);
    if (job !== undefined) await world.rerun(job.id);
  }),
  step(4, 'deliveries', deliveryFaults, (faults) => world.gitHub.setDeliveryFaults(faults)),
  step(
    3,
    'busy runners look idle, and no delivery says that they work',
    fc.boolean(),
    async (busyLies) => {
      await world.gitHub.setRunnerFaults({ busyLies });
      await world.gitHub.setDeliveryFaults(busyLies ? { dropActions: ['in_progress'] } : {});
    },
  ),
  step(5, 'stop a worker', fc.nat(100), async (nth) => {
    await world.askToStop(nth);
    await world.runTasks();
    await world.letTimePass();
    await world.endPauses();
  }),
  step(
    2,
    'see repositories',
    fc.tuple(entity, fc.constantFrom<0 | 1 | 'all'>(0, 1, 'all')),
    ([owner, which]) => world.select(owner, which),
  ),
  step(1, 'end the grace of unexplained ends', fc.constant(0), () => world.endGrace()),
  step(1, 'uninstall', entity, (owner) => world.uninstall(owner)),
  step(2, 'install', entity, (owner) => world.install(owner)),
  step(1, 'rename', entity, (owner) => world.rename(owner)),
  step(2, 'configure', fc.constantFrom('all', 'some'), (of) => world.configure(of)),
);

const largest = (counts: Iterable<readonly unknown[]>): number =>
  Math.max(0, ...Array.from(counts, (rows) => rows.length));

/** At any moment. */
async function expectWithinBounds(): Promise<void> {
  const pods = await world.activePods();
  const workers = await world.alive();
  expect(largest(Map.groupBy(workers, (worker) => worker.entity_id).values())).toBeLessThanOrEqual(
    CAPS.entity,
  );
  const byPool = Map.groupBy(workers, (worker) => worker.k8s_pool);
  for (const pool of ['linux', 'large', 'gpu'] as const)
    expect(byPool.get(pool)?.length ?? 0).toBeLessThanOrEqual(CAPS[pool]);
  const gpuRepositories = Map.groupBy(byPool.get('gpu') ?? [], (worker) => worker.scope_repo_id);
  expect(largest(gpuRepositories.values())).toBeLessThanOrEqual(CAPS.gpuRepository);
  // All live pods count in the caps: none has an ended row, and no two rows have one pod.
  const names = new Set(workers.map((worker) => worker.pod_name));
  expect(pods.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
  const uids = workers.flatMap((worker) => worker.pod_uid ?? []);
  expect(new Set(uids).size).toBe(uids.length);
  const registered = (await world.gitHub.truth()).registrations.map(({ name }) => name);
  expect(new Set(registered).size).toBe(registered.length);
  expect(world.refusals).toEqual([]);
}

/** Keys that lack a worker, and no reason says why. */
const unexplained = () =>
  sql<{ key: number }>`
    select j.demand_key as key from jobs j left join demand_keys d using (demand_key) where j.wants_worker
    group by j.demand_key, d.wait_reason
    having d.wait_reason is null and count(*) > (
      select count(*) from workers w where w.demand_key = j.demand_key and w.assigned_at is null
        and ((w.status in ('pending', 'running') and w.stopping_at is null) or w.unexplained_until > now()))`.execute(
    world.db,
  );

/** Keys that wait for a cap which is not reached. */
async function unfounded(): Promise<unknown[]> {
  const { db } = world;
  const held = await db
    .selectFrom('jobs')
    .innerJoin('demand_keys', 'demand_keys.demand_key', 'jobs.demand_key')
    .select(['jobs.entity_id', 'jobs.k8s_pool', 'jobs.scope_repo_id', 'demand_keys.wait_reason'])
    .where('wants_worker', '=', true)
    .where('wait_reason', 'like', 'at_%')
    .distinct()
    .execute();
  const workers = await world.alive();
  type Worker = (typeof workers)[number];
  return held.filter((key) => {
    const isOfPool = (worker: Worker) => worker.k8s_pool === key.k8s_pool;
    const [cap, counts] = {
      at_entity_cap: [CAPS.entity, (worker: Worker) => worker.entity_id === key.entity_id] as const,
      at_pool_cap: [CAPS[key.k8s_pool as 'linux'], isOfPool] as const,
      at_repository_cap: [
        CAPS.gpuRepository,
        (worker: Worker) => isOfPool(worker) && worker.scope_repo_id === key.scope_repo_id,
      ] as const,
    }[key.wait_reason ?? ''] ?? [Infinity, isOfPool];
    return workers.filter(counts).length < cap;
  });
}

async function work(): Promise<void> {
  await world.alone(async () => {
    await world.noteRepositories();
    // New workers and ended workers call for another pass.
    let hasMore = true;
    while (hasMore) {
      const { reserved, ended } = await world.match();
      hasMore = reserved + ended > 0;
    }
    expect((await unexplained()).rows).toEqual([]);
    expect(await unfounded()).toEqual([]);
  });
  await world.runTasks();
  await world.followPods();
}

/** Takes the faults away, and does once the work of the reconciler. */
async function heal(): Promise<void> {
  const { gitHub, db } = world;
  await gitHub.clearFaults();
  for (const owner of ENTITIES) {
    await world.install(owner);
    await world.select(owner, 'all');
    await world.restoreName(owner);
  }
  await world.configure('all');
  await gitHub.settled();
  await world.redeliver();
  const rows = await db.selectFrom('jobs').select(['job_id', 'status']).execute();
  const known = new Map(rows.map((row) => [row.job_id, row.status]));
  const ours = {
    waiting: 'pending',
    queued: 'pending',
    in_progress: 'running',
    completed: 'completed',
  };
  for (const job of await jobs())
    if (known.get(job.id) !== ours[job.status]) await world.lookUp(job);
}

/** Workers whose runner waits although GitHub has no job for it. */
const idle = async () =>
  (await world.gitHub.truth()).runners
    .filter(({ state }) => state === 'idle')
    .map(({ name }) => name);

async function letEverythingEnd(): Promise<void> {
  await waitFor('every job to end', async () => {
    await heal();
    await world.endEndless();
    await world.makeDue();
    await world.endPauses();
    await work();
    await expectWithinBounds();
    if ((await jobs()).every(({ status }) => status === 'completed')) return true;
    // An idle runner may keep another from being made.
    const held = await world.db
      .selectFrom('demand_keys')
      .select('demand_key')
      .where('wait_reason', 'like', 'at_%')
      .execute();
    if (held.length > 0) {
      await world.stopIdle(await idle());
      await world.letTimePass();
    }
    return false;
  });
  await waitFor('our rows to be up to date', async () => {
    await heal();
    await world.followPods();
    const open = await world.db
      .selectFrom('jobs')
      .select('job_id')
      .where('status', 'in', ['pending', 'running'])
      .execute();
    return open.length === 0;
  });
}

/** Leaves only warm workers, in our rows and at GitHub; surplus workers are stopped. */
async function letSurplusLeave(): Promise<void> {
  await waitFor('supply to be the warm workers', async () => {
    await heal();
    await world.letTimePass();
    await work();
    await expectWithinBounds();
    const left = await world.alive();
    const isAtRest = left.every(
      (worker) => worker.is_warm && worker.stopping_at === null && worker.assigned_at === null,
    );
    const places = left
      .map((worker) => `${worker.k8s_pool} ${worker.entity_id} ${worker.scope_repo_id}`)
      .toSorted();
    const names = left.map((worker) => worker.pod_name).toSorted();
    const expected = [await world.warmPlaces(), (await idle()).toSorted()];
    return isAtRest && JSON.stringify([places, names]) === JSON.stringify(expected);
  });
}

/** Unnecessary runners, and the excuses. */
async function findExcess() {
  const { db, gitHub, excuses } = world;
  const { registrations } = await gitHub.truth();
  const inVain = registrations.filter(({ jobIds }) => jobIds.length === 0).map(({ name }) => name);
  // Each warm worker is one more than the jobs need: when it takes a job, the worker made for that
  // job is the one without work. And we do not know that a worker works when another is made in the
  // place of one whose stop did not come about.
  const { rows } = await sql<Record<string, number>>`select
    (select count(*) from jobs j join workers w on w.assigned_job_id = j.job_id where w.demand_key <> j.demand_key) as "ranElsewhere",
    (select count(*) from workers where is_warm) as "madeWarm",
    (select count(*) from workers where stop_reason = 'idle' and assigned_at is null) as "stoppedIdle",
    (select count(*) from operations where kind = 'stop-worker' and output ? 'kept') as "workedWhileRetired"`.execute(
    db,
  );
  const reasons = { ...excuses, ...rows[0] };
  const excused = Object.values(reasons).reduce((sum, count) => sum + count, 0);
  return { inVain, reasons, tooMany: inVain.length > excused };
}

describe('GitHub does as it likes', () => {
  test.each(seedsAnd(FOUND))(
    'with seed %i: every job ends; no cap is exceeded; none waits without a reason; workers in vain are those that jobs left, and in the end only the warm are there (P1, P2, P3, P5, C3, C5, C10, B7)',
    async (seed) => {
      await fc.assert(
        fc.asyncProperty(
          fc.nat(),
          fc.array(steps, { minLength: 6, maxLength: 24 }),
          async (githubSeed, history) => {
            world = await startFreedom(githubSeed);
            try {
              for (const { take } of history) {
                await take();
                await work();
                await expectWithinBounds();
              }
              await letEverythingEnd();
              await letSurplusLeave();
              const ended = await jobs();
              expect(
                ended.filter(({ status, killed }) => status !== 'completed' || killed),
              ).toEqual([]);
              const wanting = await world.db
                .selectFrom('jobs')
                .select('job_id')
                .where('wants_worker', '=', true)
                .execute();
              expect(wanting).toEqual([]);
              expect(await findExcess()).toMatchObject({ tooMany: false });
            } finally {
              await world.stop();
            }
          },
        ),
        { seed, numRuns: seed === FOUND ? 8 : 4, endOnFailure: true },
      );
    },
    NET_MS,
  );
});
