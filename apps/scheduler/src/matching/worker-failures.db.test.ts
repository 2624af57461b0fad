import { describe, expect, test } from '@jest/globals';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { putWorker } from '@paddock/testing/worker-rows';
import { untilBlocked } from '@paddock/testing/until-blocked';
import { sql } from 'kysely';
import { entityInPoolBreaker, poolBreaker } from '@paddock/db/breakers/breaker-subjects';
import { noteFailure } from '@paddock/db/breakers/note-failure';
import { noteSuccess, passBreakers } from '@paddock/db/breakers/breakers';
import { bindWorkers } from '@paddock/db/workers/bind-workers';
import { demandOfEntities } from '@paddock/db/scenes/worker-failures.scene';
import { matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
import {
  closeServedPools,
  forgetFailedEntities,
  noteOutdatedRunner,
  noteWorkerFailure,
} from '@paddock/db/workers/worker-failures';

const testDb = useMatchingDatabase(examplePools());

const ACME = 1;
const GLOBEX = 2;
const noting = () => ({ db: testDb.db, breakerRules: BREAKER_RULES });
const linux = poolBreaker('linux');
const ofEntityInPool = (entityId: number) => entityInPoolBreaker({ pool: 'linux', entityId });

/** A failed worker of the entity, whose failure is counted. Returns its name. */
async function fail(entityId: number, failureClass = 'exit_code'): Promise<string> {
  const ended = { status: 'failed', completed_at: new Date() } as const;
  const { pod_name: podName } = await putWorker(testDb.db, { entity_id: entityId, ...ended });
  await noteWorkerFailure(noting(), { podName, failureClass, message: 'ended' });
  return podName;
}
const failTimes = async (times: number, entityId: number) => {
  const names: string[] = [];
  for (let n = 0; n < times; n += 1) names.push(await fail(entityId));
  return names;
};
const hears = (...names: string[]) =>
  testDb.db.transaction().execute((trx) =>
    bindWorkers(
      trx,
      names.map((worker, jobId) => ({ worker, jobId: jobId + 1 })),
    ),
  );
const passes = async (entityId: number) =>
  (await passBreakers(testDb.db, [linux, ofEntityInPool(entityId)])).waitMs === 0;
const endPauses = () =>
  sql`update breakers set paused_until = now() where paused_until > now()`.execute(testDb.db);
const rows = async () => {
  const all = await testDb.db.selectFrom('breakers').selectAll().orderBy('subject_id').execute();
  return all.map((row) => [row.subject_id, row.failures, row.pauses]);
};
const putJobs = async (count: number, entityId: number) => {
  for (let n = 0; n < count; n += 1)
    await putJob(testDb.db, { entity_id: entityId, entity_name: `account-${entityId}` });
};
const keys = () => demandOfEntities(testDb.db);

describe('failures that an entity may have caused (C11)', () => {
  test('one entity holds back itself in that pool, and one worker of it may try', async () => {
    await failTimes(5, ACME);
    expect([await passes(ACME), await passes(GLOBEX)]).toEqual([false, true]);
    await putJobs(3, ACME);
    await putJobs(3, GLOBEX);
    await matchAll(testDb.db);
    expect(await keys()).toEqual([
      [ACME, 1, 'pool_failing'],
      [GLOBEX, 3, null],
    ]);
  });

  test('two entities hold back everybody', async () => {
    await failTimes(2, ACME);
    await fail(GLOBEX);
    expect([await passes(ACME), await passes(GLOBEX), await passes(3)]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('reservations of the entity go back but for one, and those of others stay', async () => {
    await putJobs(3, ACME);
    await putJobs(3, GLOBEX);
    await matchAll(testDb.db);
    await failTimes(3, ACME);
    expect((await matchOnce(testDb.db)).ended).toHaveLength(2);
    expect((await matchOnce(testDb.db)).ended).toEqual([]);
  });

  test('successes of others neither free the entity nor end its pauses’ growth', async () => {
    await failTimes(3, ACME);
    for (let round = 0; round < 3; round += 1) {
      await noteSuccess(testDb.db, [linux, ofEntityInPool(GLOBEX)]);
      const created_at = sql<Date>`now() + interval '1 s'`;
      await putWorker(testDb.db, {
        entity_id: GLOBEX,
        created_at,
        status: 'running',
        assigned_at: new Date(),
      });
      await closeServedPools(testDb.db);
      expect([await passes(ACME), await passes(GLOBEX)]).toEqual([false, true]);
      await endPauses();
      await fail(ACME);
    }
    expect((await rows()).at(-1)).toEqual([`linux@${ACME}`, 0, 4]);
  });

  test('a success of the entity frees it, and leaves others that failed where they are', async () => {
    await failTimes(3, ACME);
    await failTimes(3, GLOBEX);
    await noteSuccess(testDb.db, [linux, ofEntityInPool(ACME)]);
    expect([await passes(ACME), await passes(GLOBEX), await passes(3)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('the one trial of a pool is not left to an entity that has to wait for longer', async () => {
    await failTimes(3, ACME);
    await endPauses();
    await fail(ACME);
    await failTimes(3, GLOBEX);
    await noteSuccess(testDb.db, [ofEntityInPool(GLOBEX)]);
    await putJobs(3, ACME);
    await putJobs(3, GLOBEX);
    await matchAll(testDb.db);
    expect(await keys()).toEqual([
      [ACME, 0, 'pool_failing'],
      [GLOBEX, 1, 'pool_failing'],
    ]);
  });

  test('a second outdated runner holds back its entity only: a job can write such a log', async () => {
    for (let n = 0; n < 2; n += 1) {
      const { pod_name: podName } = await putWorker(testDb.db, {
        entity_id: ACME,
        status: 'failed',
        completed_at: new Date(),
      });
      await noteOutdatedRunner(noting(), { podName, message: 'no more' });
    }
    expect([await passes(ACME), await passes(GLOBEX)]).toEqual([false, true]);
  });

  test('failures that are certainly the pool’s hold back every entity, with workers of any entity', async () => {
    for (let n = 0; n < 3; n += 1)
      await noteFailure(noting(), { subject: linux, failureClass: 'image_pull', message: 'no' });
    expect([await passes(ACME), await passes(GLOBEX)]).toEqual([false, false]);
  });

  test('an entity that has not failed for a day is forgotten', async () => {
    await failTimes(3, ACME);
    await sql`update breakers set failed_at = now() - interval '25 hours'`.execute(testDb.db);
    await forgetFailedEntities(testDb.db);
    expect(await rows()).toEqual([['linux', 3, 0]]);
  });
});

describe('failures that turn out to be jobs (C11)', () => {
  test('are taken back: a breaker that opened only by them closes, and the tasks that it holds are due', async () => {
    const names = await failTimes(3, ACME);
    await testDb.db
      .insertInto('tasks')
      .values({
        kind: 'provision-worker',
        subject_type: 'worker',
        subject_id: 'held',
        max_attempts: 5,
        max_crashes: 3,
        held_by: `pool:linux@${ACME}`,
        due_at: sql<Date>`now() + interval '1 hour'`,
      })
      .execute();
    await hears(...names);
    expect(await rows()).toEqual([]);
    const [task] = await testDb.db
      .selectFrom('tasks')
      .select(sql<boolean>`due_at <= now()`.as('isDue'))
      .execute();
    expect(task).toEqual({ isDue: true });
  });

  test.each([
    ['do not', { status: 'pending', stuck_reason: 'crash_loop' }],
    ['do so after all', { status: 'running', running_at: new Date() }],
  ] as const)(
    'are taken back from pods that did not start when they were counted, and %s when the job becomes known',
    async (_name, now) => {
      const names: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const { pod_name: podName } = await putWorker(testDb.db, {
          entity_id: ACME,
          stuck_reason: 'crash_loop',
        });
        await noteWorkerFailure(noting(), {
          podName,
          failureClass: 'crash_loop',
          message: 'crashes',
        });
        names.push(podName);
      }
      expect(await passes(ACME)).toBe(false);
      await testDb.db
        .updateTable('workers')
        .set({ stuck_reason: null, ...now })
        .execute();
      await hears(...names);
      expect(await rows()).toEqual([]);
    },
  );

  test('leave the others counted, each by its own worker', async () => {
    const [first = ''] = await failTimes(3, ACME);
    await hears(first);
    expect(await rows()).toEqual([
      ['linux', 2, 0],
      [`linux@${ACME}`, 2, 0],
    ]);
    await hears(first);
    await fail(ACME);
    expect((await rows()).at(-1)).toEqual([`linux@${ACME}`, 0, 1]);
  });

  test('let a pool go that they alone made one of two entities’ failures', async () => {
    await failTimes(3, ACME);
    const other = await fail(GLOBEX);
    expect(await passes(3)).toBe(false);
    await hears(other);
    expect([await passes(ACME), await passes(GLOBEX), await passes(3)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('shorten the pause to the one for the remaining failures, with the next trial due at once', async () => {
    await failTimes(3, ACME);
    await endPauses();
    const trial = await fail(ACME);
    expect((await rows()).at(-1)).toEqual([`linux@${ACME}`, 0, 2]);
    await hears(trial);
    expect((await rows()).at(-1)).toEqual([`linux@${ACME}`, 0, 1]);
    expect(await passes(ACME)).toBe(true);
  });

  test('are not taken back from failures counted after a success', async () => {
    const [first = ''] = await failTimes(3, ACME);
    await noteSuccess(testDb.db, [linux, ofEntityInPool(ACME)]);
    await failTimes(3, ACME);
    await hears(first);
    expect((await rows()).at(-1)).toEqual([`linux@${ACME}`, 0, 1]);
  });

  test('are not counted once the job is known, also if it becomes known at that very instant', async () => {
    const { pod_name: podName } = await putWorker(testDb.db, {
      entity_id: ACME,
      status: 'failed',
      completed_at: new Date(),
    });
    const failure = { podName, failureClass: 'exit_code', message: 'ended' };
    const counting = await testDb.db.transaction().execute(async (trx) => {
      await bindWorkers(trx, [{ worker: podName, jobId: 1 }]);
      const counted = noteWorkerFailure(noting(), failure);
      await untilBlocked(testDb.db);
      return { counted };
    });
    await counting.counted;
    await noteWorkerFailure(noting(), failure);
    expect(await rows()).toEqual([]);
  });

  test('are taken back by a binding that waited until they were counted', async () => {
    const { pod_name: podName } = await putWorker(testDb.db, {
      entity_id: ACME,
      status: 'failed',
      completed_at: new Date(),
    });
    const { bound } = await testDb.db.transaction().execute(async (trx) => {
      await noteWorkerFailure(
        { db: trx, breakerRules: BREAKER_RULES },
        { podName, failureClass: 'exit_code', message: 'ended' },
      );
      const binding = hears(podName);
      await untilBlocked(testDb.db);
      return { bound: binding };
    });
    await bound;
    expect(await rows()).toEqual([]);
  });
});
