import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { findReasons, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { type MakingSubject, resumeMaking, stopMaking } from '@paddock/db/matching/stopped-making';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const GLOBEX = { entity_id: 90_000_002, entity_name: 'globex' };

const everything: MakingSubject = { type: 'environment' };
const linux: MakingSubject = { type: 'pool', name: 'linux' };
const acme: MakingSubject = { type: 'entity', entityId: 90_000_001 };

describe('stopping the making of workers (C12)', () => {
  test.each([
    ['the environment', everything, { gpu: 'making_stopped', linux: 'making_stopped' }],
    ['a pool', linux, { gpu: null, linux: 'making_stopped' }],
    ['an entity', acme, { gpu: null, linux: 'making_stopped' }],
  ])(
    'holds for %s from the next pass on, says so, and ends with it',
    async (_name, subject, reasons) => {
      await putJob(testDb.db);
      await putJob(testDb.db, { k8s_pool: 'gpu', ...GLOBEX });
      expect(await stopMaking(testDb.db, subject, 'ada')).toBe(true);
      const stopped = Object.values(reasons).filter((reason) => reason !== null).length;
      expect((await matchOnce(testDb.db)).reserved).toHaveLength(2 - stopped);
      expect(await findReasons(testDb.db)).toEqual(reasons);

      expect(await resumeMaking(testDb.db, subject)).toBe(true);
      expect((await matchOnce(testDb.db)).reserved).toHaveLength(stopped);
      expect(await findReasons(testDb.db)).toEqual({ gpu: null, linux: null });
    },
  );

  test('gives back unregistered reservations, and leaves the other workers alone (P2)', async () => {
    const begun = await putWorker(testDb.db, { registration_started_at: new Date() });
    await putWorker(testDb.db);
    await putJob(testDb.db);
    await putJob(testDb.db);
    await stopMaking(testDb.db, linux, 'ada');
    expect((await matchOnce(testDb.db)).ended).toHaveLength(1);
    const alive = await testDb.db
      .selectFrom('workers')
      .select('pod_name')
      .where('status', '=', 'pending')
      .execute();
    expect(alive).toEqual([{ pod_name: begun.pod_name }]);
  });

  test('does not hold back a job that has a worker already', async () => {
    await putWorker(testDb.db, { registration_started_at: new Date() });
    await putJob(testDb.db);
    await stopMaking(testDb.db, everything, 'ada');
    await matchOnce(testDb.db);
    expect(await findReasons(testDb.db)).toEqual({ linux: null });
  });

  test.each(['acme', '', '0', '-7', '12 ', '90071992547409931'])(
    'of an entity is refused by the table for “%s”, which is no id',
    async (subject_id) => {
      const written = testDb.db
        .insertInto('stopped_making')
        .values({ subject_type: 'entity', subject_id, stopped_by: 'ada' })
        .execute();
      await expect(written).rejects.toThrow(/violates check constraint/);
    },
  );

  test('of an entity with an invalid name, from before the table checked names, stops no other entity', async () => {
    await sql`alter table stopped_making drop constraint stopped_making_entity_is_an_id`.execute(
      testDb.db,
    );
    await testDb.db
      .insertInto('stopped_making')
      .values({ subject_type: 'entity', subject_id: 'globex', stopped_by: 'ada' })
      .execute();
    await putJob(testDb.db);
    expect((await matchOnce(testDb.db)).reserved).toHaveLength(1);
  });

  test('is stored once for many requests, and one stop does not end with another', async () => {
    expect(await stopMaking(testDb.db, linux, 'ada')).toBe(true);
    expect(await stopMaking(testDb.db, linux, 'grace')).toBe(false);
    expect(await stopMaking(testDb.db, acme, 'grace')).toBe(true);
    const rows = testDb.db.selectFrom('stopped_making').select(['subject_id', 'stopped_by']);
    expect(await rows.orderBy('stopped_at').execute()).toEqual([
      { subject_id: 'linux', stopped_by: 'ada' },
      { subject_id: '90000001', stopped_by: 'grace' },
    ]);
    await putJob(testDb.db);
    expect(await resumeMaking(testDb.db, linux)).toBe(true);
    expect(await resumeMaking(testDb.db, linux)).toBe(false);
    expect(await resumeMaking(testDb.db, everything)).toBe(false);
    expect((await matchOnce(testDb.db)).reserved).toEqual([]);
  });
});
