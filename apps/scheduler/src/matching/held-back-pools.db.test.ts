import { describe, expect, test } from '@jest/globals';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { entityInPoolBreaker, poolBreaker } from '@paddock/db/breakers/breaker-subjects';
import { noteSuccess, passBreakers } from '@paddock/db/breakers/breakers';
import { matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { noteWorkerFailure } from '@paddock/db/workers/worker-failures';

const testDb = useMatchingDatabase(examplePools());

const FAILING = 1;
const ACCOMPLICE = 2;
const HONEST = 3;
const linux = poolBreaker('linux');
const breakersOf = (entityId: number) => [linux, entityInPoolBreaker({ pool: 'linux', entityId })];

const putJobs = async (count: number, entityId: number) => {
  for (let n = 0; n < count; n += 1)
    await putJob(testDb.db, { entity_id: entityId, entity_name: `account-${entityId}` });
};
const end = async (podName: string) => {
  await testDb.db
    .updateTable('workers')
    .set({ status: 'failed', completed_at: new Date() })
    .where('pod_name', '=', podName)
    .execute();
  await noteWorkerFailure(
    { db: testDb.db, breakerRules: BREAKER_RULES },
    { podName, failureClass: 'exit_code', message: 'ended' },
  );
};
const fail = async (...entities: number[]) => {
  for (const entityId of entities)
    await end((await putWorker(testDb.db, { entity_id: entityId })).pod_name);
};
/**
 * Workers of the honest entity that have run for a while: by its share it comes after everybody
 * else.
 */
const putRunning = async (count: number) => {
  const since = {
    pod_created_at: minutesAgo(5),
    registered_at: minutesAgo(5),
    running_at: minutesAgo(5),
    assigned_at: minutesAgo(5),
  };
  for (let n = 0; n < count; n += 1)
    await putWorker(testDb.db, { entity_id: HONEST, status: 'running', ...since });
};
/** Lets time pass for all breakers. */
const pass = (seconds: number) =>
  sql`update breakers set paused_until = paused_until - ${seconds}::float8 * interval '1 second',
    trial_until = trial_until - ${seconds}::float8 * interval '1 second',
    failed_at = failed_at - ${seconds}::float8 * interval '1 second'`.execute(testDb.db);
const secondsToNextEnd = async () => {
  const { rows } = await sql<{ seconds: number | null }>`
    select extract(epoch from min(paused_until) - now())::float8 as seconds from breakers where paused_until > now()`.execute(
    testDb.db,
  );
  return rows[0]?.seconds ?? 0;
};
/** The entities that matcher and breakers let try now; their workers begin. */
async function begin(): Promise<{ podName: string; entityId: number }[]> {
  await matchAll(testDb.db);
  const reserved = await testDb.db
    .selectFrom('workers')
    .select(['pod_name as podName', 'entity_id as entityId'])
    .where('status', '=', 'pending')
    .where('registration_started_at', 'is', null)
    .orderBy('created_at')
    .execute();
  const begun = [];
  for (const worker of reserved) {
    if ((await passBreakers(testDb.db, breakersOf(worker.entityId))).waitMs > 0) continue;
    await testDb.db
      .updateTable('workers')
      .set({ registration_started_at: new Date() })
      .where('pod_name', '=', worker.podName)
      .execute();
    begun.push(worker);
  }
  return begun;
}
/**
 * Plays this many pauses: each worker of these entities that tries fails at once. Returns, for each
 * instant with a trial, the entities that tried.
 */
async function play(seconds: number, failing: readonly number[]): Promise<number[][]> {
  const instants: number[][] = [];
  for (let left = seconds; left > 0;) {
    const tried: number[] = [];
    for (let begun = await begin(); begun.length > 0; begun = await begin()) {
      for (const { podName, entityId } of begun) {
        if (failing.includes(entityId)) await end(podName);
        else await noteSuccess(testDb.db, breakersOf(entityId));
        tried.push(entityId);
      }
    }
    instants.push(tried);
    const step = (await secondsToNextEnd()) + 0.01;
    if (step < 0.02) break;
    await pass(step);
    left -= step;
  }
  return instants;
}
const poolRow = () =>
  testDb.db
    .selectFrom('breakers')
    .select(['failures', 'pauses'])
    .where('subject_id', '=', 'linux')
    .executeTakeFirst();

describe('a pool that failures of several entities hold back (C11)', () => {
  test('leaves its trial to the entity that has failed least, though others have fewer workers and older jobs', async () => {
    await putRunning(4);
    for (const entityId of [FAILING, ACCOMPLICE, HONEST]) await putJobs(2, entityId);
    await fail(FAILING, FAILING, ACCOMPLICE);
    const [paused, over] = await play(60, [FAILING, ACCOMPLICE]);
    expect([paused, over?.[0]]).toEqual([[], HONEST]);
  });

  test('keeps the reservation of the entity that has failed least', async () => {
    for (const entityId of [FAILING, ACCOMPLICE, HONEST]) await putJobs(1, entityId);
    await matchAll(testDb.db);
    await fail(FAILING, FAILING, ACCOMPLICE);
    expect((await matchOnce(testDb.db)).ended).toHaveLength(2);
    const left = await testDb.db
      .selectFrom('workers')
      .select('entity_id')
      .where('status', '=', 'pending')
      .execute();
    expect(left).toEqual([{ entity_id: HONEST }]);
  });

  test('is prolonged by no entity that is held back there itself, and the next entity tries at once', async () => {
    await fail(FAILING, FAILING, FAILING, ACCOMPLICE);
    const before = await poolRow();
    await putJobs(2, FAILING);
    await pass(31);
    const [trial] = await begin();
    expect(trial).toMatchObject({ entityId: FAILING });
    await end(trial?.podName ?? '');
    expect(await poolRow()).toEqual(before);
    await putJobs(1, HONEST);
    expect(await begin()).toEqual([expect.objectContaining({ entityId: HONEST })]);
  });

  test('is tried once a pause by each entity that fails, however long they go on, and is free with the first that does not', async () => {
    for (const entityId of [FAILING, ACCOMPLICE]) await putJobs(2, entityId);
    await fail(FAILING, FAILING, ACCOMPLICE);
    const instants = await play(7_200, [FAILING, ACCOMPLICE]);
    for (const tried of instants) expect(new Set(tried).size).toBe(tried.length);
    // 30 s, doubled up to 15 minutes: no more than a dozen in two hours, for each.
    for (const entity of [FAILING, ACCOMPLICE])
      expect(instants.flat().filter((one) => one === entity).length).toBeLessThanOrEqual(13);
    await putJobs(3, HONEST);
    const [now = []] = await play(1, [FAILING, ACCOMPLICE]);
    expect([now[0], now.filter((one) => one === HONEST)]).toEqual([
      HONEST,
      [HONEST, HONEST, HONEST],
    ]);
    expect(await poolRow()).toBeUndefined();
  });
});

describe('a pool with one entity that fails (C11)', () => {
  test('goes on for all others, and opens by no failure of another an hour later', async () => {
    await putJobs(2, FAILING);
    await putJobs(3, HONEST);
    const instants = await play(7_200, [FAILING]);
    expect(instants[0]?.filter((one) => one === HONEST)).toHaveLength(3);
    expect(instants.slice(1).every((tried) => tried.every((one) => one === FAILING))).toBe(true);
    expect(instants.flat().filter((one) => one === FAILING).length).toBeLessThanOrEqual(16);
    await fail(ACCOMPLICE);
    expect(await poolRow()).toEqual({ failures: 1, pauses: 0 });
    expect((await passBreakers(testDb.db, breakersOf(HONEST))).waitMs).toBe(0);
  });
});
