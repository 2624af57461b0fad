import { describe, expect, test } from '@jest/globals';
import { examplePools, putInstallation, putJob, putPools } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools());

/** One pass in which every new worker gets the same name. */
async function matchWithOneName(): Promise<number> {
  const { db } = testDb;
  await sql`
    create function take_one_name() returns trigger language plpgsql as $$ begin new.pod_name := 'pdk-taken'; return new; end $$`.execute(
    db,
  );
  await sql`create trigger one_name before insert on workers for each row execute function take_one_name()`.execute(
    db,
  );
  try {
    return (await matchOnce(db)).reserved.length;
  } finally {
    await sql`drop function take_one_name() cascade`.execute(db);
  }
}

describe('a name that is taken makes one worker fewer, which the next pass makes (A5)', () => {
  test('of those that jobs wait for', async () => {
    await putJob(testDb.db);
    await putJob(testDb.db);
    expect(await matchWithOneName()).toBe(1);
    expect((await matchOnce(testDb.db)).reserved).toHaveLength(1);
  });

  test('of those that are kept warm', async () => {
    await putInstallation(testDb.db);
    await putPools(testDb.db, examplePools({ pools: [{ warm: [{ scope: 'acme', workers: 2 }] }] }));
    expect(await matchWithOneName()).toBe(1);
    expect((await matchOnce(testDb.db)).reserved).toHaveLength(1);
  });
});
