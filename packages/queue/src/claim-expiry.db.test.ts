import { beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { claimTasks, ENOUGH_LEFT, shareLeft } from './claim-tasks.ts';
import { recoverTasks } from './recover-tasks.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';

const KEEP = { okMs: 60_000, failedMs: 60_000 };
const CLAIM_MS = 15_000;

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

const claim = (holder: string, claimMs: number) =>
  claimTasks(database.db, { holder, claimMs, slots: { a: 1 }, takeOver: true, keepFailedMs: 1 });
const recover = () => recoverTasks(database.db, { batch: 250, keep: KEEP });

/** As if the holder had written its claim so many seconds before. */
const letPass = (seconds: number) =>
  sql`update tasks set locked_until = locked_until - ${seconds} * interval '1 s'`.execute(
    database.db,
  );

describe('a task that runs elsewhere', () => {
  test('is taken over when its claim is over, and not before (D5)', async () => {
    await enqueueNow(database.db, task('a', 'x'));
    expect(await claim('holder', CLAIM_MS)).toHaveLength(1);
    await letPass(14);
    expect(await claim('other', CLAIM_MS)).toEqual([]);
    await letPass(1);
    expect(await claim('other', CLAIM_MS)).toMatchObject([{ taken_over: true, crashes: 1 }]);
  });

  test('goes by the claim of its holder, not by that of the executor that looks', async () => {
    await enqueueNow(database.db, task('a', 'x'));
    await claim('holder', 120_000);
    await letPass(119);
    expect(await claim('other', CLAIM_MS)).toEqual([]);
    await letPass(1);
    expect(await claim('other', CLAIM_MS)).toHaveLength(1);
  });

  test('is recovered by the same claim where no executor runs its kind (E8)', async () => {
    await enqueueNow(database.db, task('a', 'x'));
    await claim('holder', CLAIM_MS);
    await letPass(14);
    expect(await recover()).toMatchObject({ requeued: 0 });
    await letPass(1);
    expect(await recover()).toMatchObject({ requeued: 1 });
  });
});

test('a holder interrupts its run long before its claim is over (D5)', () => {
  expect(shareLeft(0, CLAIM_MS)).toBe(1);
  expect(shareLeft(9_900, CLAIM_MS)).toBeGreaterThan(ENOUGH_LEFT);
  expect(shareLeft(10_100, CLAIM_MS)).toBeLessThan(ENOUGH_LEFT);
  expect(shareLeft(16_000, CLAIM_MS)).toBe(0);
});
