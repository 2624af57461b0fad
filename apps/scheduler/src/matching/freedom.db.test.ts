import { describe, expect, test } from '@jest/globals';
import { fc, seedsAnd } from '@paddock/testing/random-cases';
import { waitFor } from '@paddock/testing/wait-for';
import { type RawBuilder, sql } from 'kysely';
import { jobs, steps } from '../scenes/freedom-steps.scene.ts';
import { CAPS, ENTITIES, type Freedom, startFreedom } from '../scenes/freedom.scene.ts';

const RUNS = 8;
/** A net for a history that hangs: a busy machine takes minutes for all of them. */
const NET_MS = 900_000;

const live = ({ world }: Freedom) =>
  world.db
    .selectFrom('workers')
    .selectAll()
    .where('status', 'in', ['pending', 'running'])
    .execute();

const largest = (counts: Iterable<readonly unknown[]>): number =>
  Math.max(0, ...Array.from(counts, (rows) => rows.length));

/** At any moment. */
async function expectWithinBounds(world: Freedom): Promise<void> {
  const pods = await world.activePods();
  const workers = await live(world);
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
  const registered = (await world.world.gitHub.truth()).registrations.map(({ name }) => name);
  expect(new Set(registered).size).toBe(registered.length);
  expect(world.refusals).toEqual([]);
}

/** Keys that lack a worker, and no reason says why. */
const unexplained = ({ world }: Freedom) =>
  sql<{ key: number }>`
    select j.demand_key as key from jobs j left join demand_keys d using (demand_key) where j.wants_worker
    group by j.demand_key, d.wait_reason
    having d.wait_reason is null and count(*) > (
      select count(*) from workers w where w.demand_key = j.demand_key and w.assigned_at is null
        and ((w.status in ('pending', 'running') and w.stopping_at is null) or w.unexplained_until > now()))`.execute(
    world.db,
  );

/** Keys that wait for a cap which is not reached. */
async function unfounded(world: Freedom): Promise<unknown[]> {
  const { db } = world.world;
  const held = await db
    .selectFrom('jobs')
    .innerJoin('demand_keys', 'demand_keys.demand_key', 'jobs.demand_key')
    .select(['jobs.entity_id', 'jobs.k8s_pool', 'jobs.scope_repo_id', 'demand_keys.wait_reason'])
    .where('wants_worker', '=', true)
    .where('wait_reason', 'like', 'at_%')
    .distinct()
    .execute();
  const workers = await live(world);
  return held.filter((key) => {
    const ofPool = workers.filter((worker) => worker.k8s_pool === key.k8s_pool);
    const isReached = {
      at_entity_cap: () =>
        workers.filter((worker) => worker.entity_id === key.entity_id).length >= CAPS.entity,
      at_pool_cap: () =>
        ofPool.length >= (new Map<string, number>(Object.entries(CAPS)).get(key.k8s_pool) ?? 0),
      at_repository_cap: () =>
        ofPool.filter((worker) => worker.scope_repo_id === key.scope_repo_id).length >=
        CAPS.gpuRepository,
    }[key.wait_reason ?? ''];
    return isReached?.() !== true;
  });
}

async function work(world: Freedom): Promise<void> {
  await world.alone(async () => {
    await world.noteRepositories();
    // New workers and ended workers call for another pass.
    let hasMore = true;
    while (hasMore) {
      const { reserved, ended } = await world.world.match();
      hasMore = reserved + ended > 0;
    }
    expect((await unexplained(world)).rows).toEqual([]);
    expect(await unfounded(world)).toEqual([]);
  });
  await world.world.runTasks();
  await world.followPods();
}

/** Takes the faults away, and does once the work of the reconciler. */
async function heal(world: Freedom): Promise<void> {
  const { gitHub, db } = world.world;
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
  for (const job of await jobs(world))
    if (known.get(job.id) !== ours[job.status]) await world.lookUp(job);
}

/** Workers whose runner waits although GitHub has no job for it. */
const idle = async ({ world }: Freedom) =>
  (await world.gitHub.truth()).runners
    .filter(({ state }) => state === 'idle')
    .map(({ name }) => name);

async function letEverythingEnd(world: Freedom): Promise<void> {
  await waitFor('every job to end', async () => {
    await heal(world);
    await world.endEndless();
    await world.world.makeDue();
    await world.endPauses();
    await work(world);
    await expectWithinBounds(world);
    if ((await jobs(world)).every(({ status }) => status === 'completed')) return true;
    // An idle runner may keep another from being made.
    const held = await world.world.db
      .selectFrom('demand_keys')
      .select('demand_key')
      .where('wait_reason', 'like', 'at_%')
      .execute();
    if (held.length > 0) {
      await world.stopIdle(await idle(world));
      await world.letTimePass();
    }
    return false;
  });
  await waitFor('our rows to be up to date', async () => {
    await heal(world);
    await world.followPods();
    const open = await world.world.db
      .selectFrom('jobs')
      .select('job_id')
      .where('status', 'in', ['pending', 'running'])
      .execute();
    return open.length === 0;
  });
}

/** Leaves only warm workers, in our rows and at GitHub; surplus workers are stopped. */
async function letSurplusLeave(world: Freedom): Promise<void> {
  await waitFor('supply to be the warm workers', async () => {
    await heal(world);
    await world.letTimePass();
    await work(world);
    await expectWithinBounds(world);
    const left = await live(world);
    const isAtRest = left.every(
      (worker) => worker.is_warm && worker.stopping_at === null && worker.assigned_at === null,
    );
    const places = left
      .map((worker) => `${worker.k8s_pool} ${worker.entity_id} ${worker.scope_repo_id}`)
      .toSorted();
    const names = left.map((worker) => worker.pod_name).toSorted();
    const expected = [await world.warmPlaces(), (await idle(world)).toSorted()];
    return isAtRest && JSON.stringify([places, names]) === JSON.stringify(expected);
  });
}

/** Unnecessary runners, and the excuse for each. */
async function findExcess({ world: { db, gitHub }, excuses }: Freedom) {
  const { registrations } = await gitHub.truth();
  const inVain = registrations.filter(({ jobIds }) => jobIds.length === 0).map(({ name }) => name);
  const count = (condition: RawBuilder<unknown>) =>
    sql<{ count: number }>`select count(*) ${condition}`
      .execute(db)
      .then(({ rows }) => rows[0]?.count ?? 0);
  return {
    inVain,
    reasons: {
      ...excuses,
      ranElsewhere: await count(
        sql`from jobs j join workers w on w.assigned_job_id = j.job_id where w.demand_key <> j.demand_key`,
      ),
      // Each warm worker is one more than the jobs need. When it takes a job, the worker made for
      // that job is the one without work.
      madeWarm: await count(sql`from workers where is_warm`),
      stoppedIdle: await count(
        sql`from workers where stop_reason = 'idle' and assigned_at is null`,
      ),
      // We did not know that it worked when another was made in its place.
      workedWhileRetired: await count(
        sql`from operations where kind = 'stop-worker' and output ? 'kept'`,
      ),
    },
  };
}

describe('GitHub does as it likes', () => {
  test.each(seedsAnd(1_089_904))(
    'with seed %i: every job ends; no cap is exceeded; none waits without a reason; workers in vain are those that jobs left, and in the end only the warm are there (P1, P2, P3, P5, C3, C5, C10, B7)',
    async (seed) => {
      await fc.assert(
        fc.asyncProperty(
          fc.nat(),
          fc.array(steps, { minLength: 6, maxLength: 24 }),
          async (githubSeed, history) => {
            const world = await startFreedom(githubSeed);
            try {
              for (const { take } of history) {
                await take(world);
                await work(world);
                await expectWithinBounds(world);
              }
              await letEverythingEnd(world);
              await letSurplusLeave(world);
              const ended = await jobs(world);
              expect(
                ended.filter(({ status, killed }) => status !== 'completed' || killed),
              ).toEqual([]);
              const wanting = await world.world.db
                .selectFrom('jobs')
                .select('job_id')
                .where('wants_worker', '=', true)
                .execute();
              expect(wanting).toEqual([]);
              const { inVain, reasons } = await findExcess(world);
              const excused = Object.values(reasons).reduce((sum, count) => sum + count, 0);
              expect({ inVain, reasons, tooMany: inVain.length > excused }).toMatchObject({
                tooMany: false,
              });
            } finally {
              await world.stop();
            }
          },
        ),
        { seed, numRuns: RUNS, endOnFailure: true },
      );
    },
    NET_MS,
  );
});
