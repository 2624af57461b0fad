import { beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools, putInstallation, putJob } from '@paddock/testing/demand-rows';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { findReasons, matchAll, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { noteRegistrationBudget, type RegistrationBudget } from '@paddock/db/entities/waits';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const INSTALLATION = 51_000_001;
const soon = () => new Date(Date.now() + 1_800_000);
const past = () => new Date(Date.now() - 1_000);
const note = (given: Partial<RegistrationBudget>) =>
  noteRegistrationBudget(testDb.db, {
    installationId: INSTALLATION,
    remaining: 100,
    resetAt: soon(),
    ...given,
  });
const stored = () =>
  testDb.db
    .selectFrom('installations')
    .select(['registrations_left', 'registrations_reset_at'])
    .where('installation_id', '=', INSTALLATION)
    .executeTakeFirstOrThrow();
beforeEach(async () => {
  await putInstallation(testDb.db);
});

async function putJobs(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await putJob(testDb.db, n % 2 === 0 ? {} : { k8s_pool: 'gpu' });
}

describe('noteRegistrationBudget (P4)', () => {
  test('keeps the lowest figure of a window, and the newest window, when answers come in any order', async () => {
    const [earlier, later] = [new Date('2026-01-01T01:00:00Z'), new Date('2026-01-01T02:00:00Z')];
    const answers = [
      { remaining: 7, resetAt: earlier },
      { remaining: 9, resetAt: later },
      { remaining: 8, resetAt: later },
    ];
    for (const order of [answers, answers.toReversed()]) {
      const unsaid = { registrations_left: null, registrations_reset_at: null };
      await testDb.db.updateTable('installations').set(unsaid).execute();
      for (const answer of order) await note(answer);
      expect(await stored()).toEqual({ registrations_left: 8, registrations_reset_at: later });
    }
  });
});

describe('the matcher (C4, P4)', () => {
  test('reserves no more than GitHub lets the installation register, counting workers before their registration', async () => {
    await putJobs(5);
    await note({ remaining: 3 });
    expect(await matchAll(testDb.db, { most: 2 })).toBe(3);
    expect(await findReasons(testDb.db)).toEqual({ gpu: 'github_budget', linux: 'github_budget' });
  });

  test('takes a budget as full again once its hour is over', async () => {
    await putJobs(2);
    await note({ remaining: 0, resetAt: past() });
    expect(await matchAll(testDb.db)).toBe(2);
  });

  test('goes by the installation of today, not by that of the job (A12)', async () => {
    await putJobs(1);
    await testDb.db
      .updateTable('installations')
      .set({ installation_id: INSTALLATION + 7 })
      .execute();
    await note({ installationId: INSTALLATION + 7, remaining: 0 });
    expect(await matchAll(testDb.db)).toBe(0);
    expect(await findReasons(testDb.db)).toEqual({ linux: 'github_budget' });
  });

  test('lets no other entity wait for it', async () => {
    await putJobs(1);
    await putJob(testDb.db, {
      entity_id: 90_000_002,
      entity_name: 'globex',
      installation_id: INSTALLATION + 1,
    });
    await note({ remaining: 0 });
    expect(await matchAll(testDb.db)).toBe(1);
  });

  test('makes no more workers of one installation in a minute than the secondary limit allows, and goes on in the next', async () => {
    await putJobs(5);
    await putJob(testDb.db, { entity_id: 7, entity_name: 'globex', installation_id: 7 });
    expect(await matchAll(testDb.db, { registrationsPerMinute: 3 })).toBe(3 + 1);
    expect(await findReasons(testDb.db)).toMatchObject({ gpu: 'github_budget' });
    await testDb.db
      .updateTable('workers')
      .set({
        created_at: new Date(Date.now() - 61_000),
        registration_started_at: new Date(Date.now() - 61_000),
      })
      .execute();
    expect(await matchAll(testDb.db, { registrationsPerMinute: 3 })).toBe(2);
    expect(await findReasons(testDb.db)).toMatchObject({ gpu: null });
  });

  test('after an outage, held and new workers together stay within that limit (C11)', async () => {
    await putJobs(5);
    expect(await matchAll(testDb.db, { registrationsPerMinute: 3 })).toBe(3);
    // Held for longer than the minute: registered at the instant when it is over.
    await testDb.db
      .updateTable('workers')
      .set({ created_at: minutesAgo(2) })
      .execute();
    expect(await matchAll(testDb.db, { registrationsPerMinute: 3 })).toBe(0);
    await testDb.db.updateTable('workers').set({ registration_started_at: new Date() }).execute();
    expect(await matchAll(testDb.db, { registrationsPerMinute: 3 })).toBe(0);
  });

  test('reservations that were given back without a registration use nothing of that limit', async () => {
    await putJobs(3);
    expect(await matchAll(testDb.db, { registrationsPerMinute: 3 })).toBe(3);
    await testDb.db
      .updateTable('workers')
      .set({ status: 'failed', completed_at: new Date(), stop_reason: 'unwanted' })
      .execute();
    expect(await matchAll(testDb.db, { registrationsPerMinute: 3 })).toBe(3);
  });
});
