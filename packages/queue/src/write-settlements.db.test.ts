import { describe, expect, test } from '@jest/globals';
import { untilBlocked } from '@paddock/testing/sessions';
import { sql } from 'kysely';
import { enqueue, type NewTask } from './enqueue.ts';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';
import { type Claim, isRefused, writeSettlements } from './write-settlements.ts';
import type { Settlement } from './decide-settlement.ts';

const queue = useQueue();
const { database } = queue;

const KEEP = { okMs: 86_400_000, failedMs: 1_209_600_000 };
const OK: Settlement = { to: 'ok', processed: 'ok', followOn: [] };
const poisoned = { reason: 'poison', message: 'no such row' } as const;
const POISON: Settlement = { to: 'failed', processed: 'poison', ...poisoned };
const failure = { reason: 'error', message: '502' } as const;
const retry = (delayMs: number): Settlement => ({
  to: 'queued',
  processed: 'retry',
  delayMs,
  failure,
});
const waits = { reason: 'snooze', message: 'at the limit' } as const;
const SNOOZED: Settlement = {
  to: 'queued',
  processed: 'snoozed',
  delayMs: 60_000,
  failure: waits,
};
/** Returns the ids of the tasks whose claim still held. */
const settle = async (claim: Claim, settlement: Settlement) => [
  ...(await writeSettlements(database.db, [{ claim, settlement }], KEEP)),
];

const claimAll = async () =>
  (await queue.claim()).map(({ id, fence }) => ({ id, fence, holder: 'h' }));
const claimOne = async () => {
  const [claim] = await claimAll();
  if (claim === undefined) throw new Error('There is no task to claim.');
  return claim;
};
const tasks = () =>
  database.db
    .selectFrom('tasks')
    .selectAll()
    .select(sql<number>`round(extract(epoch from due_at - now()))::integer`.as('dueInSeconds'))
    .execute();
const operations = () =>
  database.db
    .selectFrom('operations')
    .selectAll()
    .select(sql<number>`extract(epoch from expires_at - finished_at)::integer`.as('keptSeconds'))
    .execute();

/** The task is due now, and its successor's operation says so. */
async function isAbsorbed({ id }: Claim, successor: { id: string } | undefined): Promise<void> {
  const due = { status: 'queued', attempt: 1, dueInSeconds: expect.closeTo(0, -1) };
  expect(await tasks()).toMatchObject([{ id, ...due }]);
  const merged = { id: successor?.id, status: 'OK', output: { mergedInto: id } };
  expect(await operations()).toMatchObject([merged]);
}

describe('settle', () => {
  test('moves a batch to the operations, keeps each as long as it should, and counts them in one row per outcome (F2, F3)', async () => {
    await queue.enqueue(task('a', 'x'), task('a', 'y'), task('a', 'z'));
    const claims = await claimAll();
    const unit = claims.map((claim, n) => ({ claim, settlement: n === 0 ? POISON : OK }));
    expect((await writeSettlements(database.db, unit, KEEP)).size).toBe(3);
    expect(await tasks()).toEqual([]);
    const ended = await operations();
    expect(ended.filter(({ status }) => status === 'OK')).toMatchObject([
      { keptSeconds: 86_400 },
      { keptSeconds: 86_400 },
    ]);
    const failures = [{ attempt: 1, ...poisoned, at: expect.any(String) }];
    const failed = { failure_reason: 'poison', failure_message: 'no such row', failures };
    expect(ended.filter(({ status }) => status === 'ERROR')).toMatchObject([
      { keptSeconds: 1_209_600, ...failed },
    ]);
    const counts = database.db.selectFrom('task_counts').selectAll().orderBy('ended');
    const hour = new Date(ended[0]?.finished_at ?? 0);
    hour.setUTCMinutes(0, 0, 0);
    expect(await counts.execute()).toMatchObject([
      { outcome: 'ERROR', failure_reason: 'poison', ended: 1, hour },
      { outcome: 'OK', failure_reason: null, ended: 2, hour },
    ]);
  });

  test('the late settle of a lost claim changes nothing (D6)', async () => {
    await queue.enqueue(task('a', 'x'));
    const late = await claimOne();
    await queue.letClaimsExpire();
    const next = await claimOne();
    const before = await tasks();
    for (const settlement of [OK, POISON, retry(0)])
      expect(await settle(late, settlement)).toEqual([]);
    expect(await settle({ ...next, holder: 'other' }, OK)).toEqual([]);
    const { attempt } = before[0] ?? {};
    const { id, fence } = next;
    expect(await tasks()).toMatchObject([{ id, fence, status: 'running', attempt }]);
    expect(await operations()).toEqual([]);
    expect(await settle(next, OK)).toEqual([id]);
  });

  test('a retry waits, counts its attempt and stores its error (D4)', async () => {
    await queue.enqueue(task('a', 'x'));
    await settle(await claimOne(), retry(30_000));
    const row = { status: 'queued', attempt: 1, dueInSeconds: expect.closeTo(30, -1) };
    const failures = [{ attempt: 1, ...failure }];
    expect(await tasks()).toMatchObject([{ ...row, locked_by: null, failures }]);
  });

  test('a snooze gives its attempt back, and many in a row are one entry among the failures (D4)', async () => {
    await queue.enqueue(task('a', 'x'));
    await settle(await claimOne(), retry(0));
    for (let n = 0; n < 12; n++) {
      await queue.makeDue();
      await settle(await claimOne(), SNOOZED);
    }
    const failures = [failure, waits];
    const row = { attempt: 1, dueInSeconds: expect.closeTo(60, -1), failures };
    expect(await tasks()).toMatchObject([row]);
  });

  test.each([
    ['later', 600_000, 0],
    ['earlier', 0, 600],
  ])(
    'a retry absorbs its successor and is due at the earlier instant: the retry is the %s one (D14)',
    async (_which, delayMs, successorSeconds) => {
      await queue.enqueue(task('a', 'x'));
      const claim = await claimOne();
      const later = task('a', 'x', { dueInMs: successorSeconds * 1_000 });
      const [successor] = await queue.enqueue(later);
      expect(await settle(claim, retry(delayMs))).toEqual([claim.id]);
      await isAbsorbed(claim, successor);
    },
  );

  test('a successor that is committed while the retry is written is absorbed too (D14)', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'x'));
    const claim = await claimOne();
    const enqueuing = await db.startTransaction().execute();
    const [successor] = await enqueue(enqueuing, [task('a', 'x')]);
    const settled = settle(claim, retry(60_000));
    await untilBlocked(db);
    await enqueuing.commit().execute();
    expect(await settled).toEqual([claim.id]);
    await isAbsorbed(claim, successor);
  });

  test('follow-ons are made with the settle or not at all, two for one subject as one (D14)', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'x'), task('a', 'y'));
    const claims = await claimAll();
    const followed = (...followOn: NewTask[]) =>
      claims.map((claim) => ({ claim, settlement: { ...OK, followOn } as Settlement }));
    const unit = followed(task('next', 'one'), task('next', 'two'));
    const broken = followed(task('next', 'three'), task('next', 'bad', { dueInMs: Infinity }));
    await expect(writeSettlements(db, broken, KEEP)).rejects.toMatchObject({ code: '22P02' });
    expect((await tasks()).map(({ kind }) => kind)).toEqual(['a', 'a']);

    await writeSettlements(db, unit, KEEP);
    expect((await tasks()).map(({ subject_id }) => subject_id).toSorted()).toEqual(['one', 'two']);
    expect((await writeSettlements(db, unit, KEEP)).size).toBe(0);
    expect(await tasks()).toHaveLength(2);
  });
});

test.each([
  ['22P02', 'is refused for good', true],
  ['23502', 'is refused for good', true],
  ['23505', 'has met a successor, and is tried again', false],
  ['40001', 'has lost a conflict, and is tried again', false],
  ['57P01', 'has lost the server, and is tried again', false],
])('a settlement with %s %s (D6)', (code, _what, refused) => {
  expect(isRefused(Object.assign(new Error('PostgreSQL says no'), { code }))).toBe(refused);
});
