import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { fc } from '@paddock/testing/random-cases';
import { putWorker } from '@paddock/testing/worker-rows';
import {
  emptyMatchingTables,
  matchAll,
  matchOnce,
  useMatchingDatabase,
} from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase();

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

/** How many live workers each entity or repository has. */
const livingOf = async (column: 'entity_id' | 'scope_repo_id') => {
  const groups = Map.groupBy(await live(), (worker) => worker[column]);
  return Object.fromEntries([...groups].map(([id, workers]) => [id, workers.length]));
};

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

describe('the caps', () => {
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

describe('fair shares (C4)', () => {
  test('a full pool is shared by weight, however many jobs the one has and however early they came', async () => {
    const [acme, globex] = ENTITIES;
    const many = {
      entity: acme,
      pool: 'large' as const,
      repo: 1,
      waiting: 12,
      unassigned: 0,
      busy: 0,
    };
    await arrange([many, { ...many, entity: globex, waiting: 6 }], {
      entities: [],
      pools: [8, null],
      repository: null,
      weights: [3, 1],
    });
    await matchAll(testDb.db, { most: 3 });
    expect(await livingOf('entity_id')).toEqual({ 1: 6, 2: 2 });
  });

  test('free room goes to the entity with the least, and on a tie to the oldest job', async () => {
    const [acme, globex] = ENTITIES;
    const first = {
      entity: acme,
      pool: 'large' as const,
      repo: 1,
      waiting: 4,
      unassigned: 0,
      busy: 0,
    };
    await arrange([first, { ...first, entity: globex, waiting: 2 }], {
      entities: [],
      pools: [2, null],
      repository: null,
      weights: [],
    });
    await matchAll(testDb.db);
    expect(await livingOf('entity_id')).toEqual({ 1: 1, 2: 1 });
    const end = { status: 'failed', completed_at: new Date() } as const;
    await testDb.db.updateTable('workers').set(end).where('entity_id', '=', 2).execute();
    await matchAll(testDb.db);
    expect(await livingOf('entity_id')).toEqual({ 1: 1, 2: 1 });
  });

  test('a repository of a user is not starved by another one, nor by its idle workers (C2)', async () => {
    const sam = {
      entity: ENTITIES[2],
      pool: 'large' as const,
      waiting: 0,
      unassigned: 0,
      busy: 0,
    };
    const given = [
      { ...sam, repo: 1, waiting: 9, busy: 1 },
      { ...sam, repo: 2, waiting: 1 },
      { ...sam, repo: 3, unassigned: 1 },
    ];
    await arrange(given, { entities: [null, null, 4], pools: [], repository: null, weights: [] });
    await matchAll(testDb.db);
    expect(await livingOf('scope_repo_id')).toEqual({ 1: 2, 2: 1, 3: 1 });
  });
});
