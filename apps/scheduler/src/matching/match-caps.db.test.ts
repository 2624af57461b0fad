import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools, putInstallation } from '@paddock/testing/demand-rows';
import { fc } from '@paddock/testing/random-cases';
import { putWorker, minutesAgo } from '@paddock/testing/worker-rows';
import {
  emptyMatchingTables,
  matchAll,
  matchOnce,
  useMatchingDatabase,
} from '../scenes/matching.scene.ts';
import { type PodState, recordPodStates } from '@paddock/db/workers/worker-pods';

const ENTITIES = [
  { entity_id: 1, entity_name: 'acme', entity_type: 'Organization' },
  { entity_id: 2, entity_name: 'globex', entity_type: 'Organization' },
  { entity_id: 3, entity_name: 'sam', entity_type: 'User' },
] as const;

const POOLS = ['large', 'small'] as const;

/** One demand key's worth of rows; pool `small` registers runners at repositories. */
interface Given {
  readonly entity: (typeof ENTITIES)[number];
  readonly pool: (typeof POOLS)[number];
  readonly repo: number;
  readonly waiting: number;
  readonly unassigned: number;
  readonly busy: number;
}

interface Caps {
  readonly entities: readonly (number | null)[];
  readonly pools: readonly (number | null)[];
  readonly repository: number | null;
  readonly weights: readonly number[];
}

const isScoped = ({ entity, pool }: Given) => entity.entity_type === 'User' || pool === 'small';

const repoOf = (given: Given) => ({
  repo_id: given.repo,
  scope_repo_id: isScoped(given) ? given.repo : 0,
});

const situations = () =>
  fc.record({
    given: fc.uniqueArray(
      fc.record({
        entity: fc.constantFrom(...ENTITIES),
        pool: fc.constantFrom(...POOLS),
        repo: fc.integer({ min: 1, max: 2 }),
        waiting: fc.nat(4),
        unassigned: fc.nat(2),
        busy: fc.nat(2),
      }),
      {
        selector: (one) => `${one.entity.entity_id} ${one.pool} ${repoOf(one).scope_repo_id}`,
        maxLength: 6,
      },
    ),
    caps: fc.record({
      entities: fc.array(fc.option(fc.nat(6)), { minLength: 3, maxLength: 3 }),
      pools: fc.array(fc.option(fc.nat(8)), { minLength: 2, maxLength: 2 }),
      repository: fc.option(fc.nat(4)),
      weights: fc.array(fc.constantFrom(0.5, 1, 3), { minLength: 3, maxLength: 3 }),
    }),
    most: fc.integer({ min: 1, max: 5 }),
  });

const entityIds = { acme: 1, globex: 2, hooli: 3, initech: 4 };

const placeOf = (login: keyof typeof entityIds) => ({
  entity_id: entityIds[login],
  entity_name: login,
});

const podOf = (podName: string, given: Partial<PodState> = {}): PodState => ({
  podName,
  podUid: `uid of ${podName}`,
  podCreatedAt: new Date(),
  node: null,
  phase: 'pending',
  runningAt: null,
  endedAt: null,
  exitCode: null,
  isRunnerOver: false,
  isUnschedulable: false,
  terminatingAt: null,
  terminatingSeconds: null,
  stuckReason: null,
  failureReason: null,
  endedBy: null,
  message: null,
  ...given,
});

describe('the caps', () => {
  const testDb = useMatchingDatabase();

  async function arrange(
    given: readonly Given[],
    { entities, pools, repository, weights }: Caps,
  ): Promise<void> {
    await emptyMatchingTables(testDb.db);
    const rules = ENTITIES.map(({ entity_name: login }, index) => [
      login,
      { maxWorkers: entities[index] ?? null, weight: weights[index] ?? 1 },
    ]);
    const documents = POOLS.map((name, index) => ({
      name,
      labels: [name],
      maxWorkers: pools[index] ?? null,
    }));
    const [large, small] = documents;
    const scoped = {
      ...small,
      registration: 'repository' as const,
      maxWorkersPerRepository: repository,
    };
    await putPools(
      testDb.db,
      examplePools({ pools: [{ ...large }, scoped], entities: Object.fromEntries(rules) }),
    );
    for (const one of given) {
      const { scope_repo_id: scope, repo_id: repo } = repoOf(one);
      const place = { ...one.entity, k8s_pool: one.pool, scope_repo_id: scope };
      for (let n = 0; n < one.unassigned; n += 1)
        await putWorker(testDb.db, { ...place, registration_started_at: new Date() });
      for (let n = 0; n < one.busy; n += 1)
        await putWorker(testDb.db, { ...place, assigned_at: new Date(), pod_uid: 'uid' });
      for (let n = 0; n < one.waiting; n += 1)
        await putJob(testDb.db, { ...place, repo_id: repo, repo_full_name: `owner/${repo}` });
    }
  }

  const live = () =>
    testDb.db
      .selectFrom('workers')
      .selectAll()
      .where('status', 'in', ['pending', 'running'])
      .execute();

  test('new workers never exceed them, and leave no job waiting that they would allow; each key has its reason (C4, C5, P1, P3, P5)', async () => {
    await fc.assert(
      fc.asyncProperty(situations(), async ({ given, caps, most }) => {
        await arrange(given, caps);
        const before = await live();
        const made = await matchAll(testDb.db, { most });
        const after = await live();
        expect(after).toHaveLength(before.length + made);
        const stored = await testDb.db.selectFrom('demand_keys').selectAll().execute();
        for (const one of given) {
          const entityCap = caps.entities[ENTITIES.indexOf(one.entity)] ?? Infinity;
          const poolCap = caps.pools[POOLS.indexOf(one.pool)] ?? Infinity;
          const keyCap = one.pool === 'small' ? (caps.repository ?? Infinity) : Infinity;
          const count = (rows: typeof after) => {
            const ofEntity = rows.filter((row) => row.entity_id === one.entity.entity_id);
            const ofPool = rows.filter((row) => row.k8s_pool === one.pool);
            const ofKey = ofEntity.filter(
              (row) => row.k8s_pool === one.pool && row.scope_repo_id === repoOf(one).scope_repo_id,
            );
            return { ofEntity: ofEntity.length, ofPool: ofPool.length, ofKey: ofKey.length };
          };
          const [was, now] = [count(before), count(after)];
          // Workers beyond a lowered cap stay, and no pass adds one.
          expect(now.ofEntity).toBeLessThanOrEqual(Math.max(was.ofEntity, entityCap));
          expect(now.ofPool).toBeLessThanOrEqual(Math.max(was.ofPool, poolCap));
          expect(now.ofKey).toBeLessThanOrEqual(Math.max(was.ofKey, keyCap));
          const wanted = Math.max(0, one.waiting - one.unassigned);
          expect(now.ofKey - was.ofKey).toBeLessThanOrEqual(wanted);
          const reasons = [
            now.ofEntity >= entityCap && 'at_entity_cap',
            now.ofPool >= poolCap && 'at_pool_cap',
            now.ofKey >= keyCap && 'at_repository_cap',
          ];
          const held = now.ofKey - was.ofKey < wanted;
          const key = stored.find(
            (row) =>
              row.entity_id === one.entity.entity_id &&
              row.k8s_pool === one.pool &&
              row.scope_repo_id === repoOf(one).scope_repo_id,
          );
          expect(key?.wait_reason ?? null).toBe(
            held ? reasons.find((reason) => reason !== false) : null,
          );
          expect(key?.waiting ?? 0).toBe(one.waiting);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('hold with matchers on several connections at once, beside jobs that arrive (C5)', async () => {
    const given = ENTITIES.map((entity, index) => ({
      entity,
      pool: 'large' as const,
      repo: index + 1,
      waiting: 6,
      unassigned: 0,
      busy: 1,
    }));
    await arrange(given, {
      entities: [5, null, null],
      pools: [12, null],
      repository: null,
      weights: [1, 1, 1],
    });
    const arrive = async () => {
      for (let n = 0; n < 5; n += 1) {
        await putJob(testDb.db, { ...ENTITIES[1], k8s_pool: 'large' });
        await matchOnce(testDb.db, { most: 2 });
      }
    };
    await Promise.all([
      arrive(),
      arrive(),
      matchAll(testDb.db, { most: 1 }),
      matchAll(testDb.db, { most: 3 }),
    ]);
    await matchAll(testDb.db);
    const workers = await live();
    expect(workers).toHaveLength(12);
    expect(workers.filter((worker) => worker.entity_id === 1).length).toBeLessThanOrEqual(5);
  });
});

describe("the entities that only '*' admits (C4)", () => {
  const testDb = useMatchingDatabase();

  const putJobs = async (count: number, login: keyof typeof entityIds) => {
    for (let n = 0; n < count; n += 1) await putJob(testDb.db, placeOf(login));
  };

  const putBusy = async (count: number, login: keyof typeof entityIds) => {
    for (let n = 0; n < count; n += 1)
      await putWorker(testDb.db, {
        ...placeOf(login),
        assigned_at: new Date(),
        pod_uid: `uid-${n}`,
      });
  };

  /**
   * Of each key with waiting jobs: its unassigned workers, its tightest cap, and why there are no
   * more.
   */
  const keys = async () => {
    const rows = await testDb.db
      .selectFrom('demand_keys')
      .selectAll()
      .orderBy('entity_id')
      .execute();
    return rows.map((key) => [key.entity_name, key.unassigned, key.cap, key.wait_reason]);
  };

  const install = (login: keyof typeof entityIds) =>
    putInstallation(testDb.db, {
      entity_id: entityIds[login],
      installation_id: 51_000_000 + entityIds[login],
      login,
    });

  test('count those whose jobs all run, and no worker of a named entity, under any of its names', async () => {
    const entities = {
      acme: { maxWorkers: null },
      'id:4': { maxWorkers: null },
      '*': { maxWorkers: null, commonMaxWorkers: 5 },
    };
    await putPools(testDb.db, examplePools({ entities }));
    await install('acme');
    await testDb.db
      .insertInto('login_pins')
      .values({ login: 'acme', entity_id: entityIds.acme })
      .execute();
    await putBusy(6, 'acme');
    await putBusy(6, 'initech');
    await putBusy(3, 'globex');
    await putJobs(6, 'hooli');
    expect(await matchAll(testDb.db)).toBe(2);
    expect(await keys()).toEqual([['hooli', 2, 5, 'at_common_cap']]);
  });
});

describe('while no node takes workers (C4)', () => {
  const testDb = useMatchingDatabase(
    examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }),
  );

  const follow = async (...states: PodState[]) =>
    (await recordPodStates(testDb.db, states, 60_000)).changed;

  const unschedulableSince = async (podName: string) =>
    (
      await testDb.db
        .selectFrom('workers')
        .select('unschedulable_at')
        .where('pod_name', '=', podName)
        .executeTakeFirstOrThrow()
    ).unschedulable_at;

  /** Workers that were made five minutes ago and that no node takes, with a job for each. */
  async function putUnschedulable(count: number): Promise<string[]> {
    const names: string[] = [];
    for (let n = 0; n < count; n += 1) {
      await putJob(testDb.db);
      const { pod_name: podName } = await putWorker(testDb.db, {
        registration_started_at: new Date(),
        created_at: minutesAgo(5),
      });
      names.push(podName);
    }
    await follow(...names.map((name) => podOf(name, { isUnschedulable: true })));
    return names;
  }

  describe('states from the pod follower', () => {
    test('a worker that no node takes is marked, since when it was first seen so, until it has a node (C4, C8)', async () => {
      const [name = ''] = await putUnschedulable(1);
      const since = await unschedulableSince(name);
      expect(since).not.toBeNull();
      expect(await follow(podOf(name, { isUnschedulable: true }))).toEqual([]);
      expect(await unschedulableSince(name)).toEqual(since);
      await follow(podOf(name, { node: 'n1' }));
      expect(await unschedulableSince(name)).toBeNull();
    });
  });

  describe('while no node takes a key’s workers (C4)', () => {
    test('the key has ten of them, those in the making included, and other keys as many as they lack', async () => {
      await putUnschedulable(7);
      for (let n = 0; n < 5; n += 1) await putJob(testDb.db);
      for (let n = 0; n < 5; n += 1)
        await putJob(testDb.db, { entity_id: 90_000_002, entity_name: 'globex' });
      expect(await matchAll(testDb.db)).toBe(3 + 5);
      const keys = await testDb.db
        .selectFrom('demand_keys')
        .select(['entity_id', 'unassigned', 'wait_reason'])
        .orderBy('entity_id')
        .execute();
      expect(keys).toEqual([
        { entity_id: 90_000_001, unassigned: 10, wait_reason: 'no_capacity' },
        { entity_id: 90_000_002, unassigned: 5, wait_reason: null },
      ]);
    });
  });
});
