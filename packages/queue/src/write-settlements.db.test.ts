import { describe, expect, test } from '@jest/globals';
import { untilBlocked } from '@paddock/testing/until-blocked';
import { sql } from 'kysely';
import { enqueue } from './enqueue.ts';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';
import { isRefused, writeSettlements } from './write-settlements.ts';
import type { Settlement } from './decide-settlement.ts';

const queue = useQueue();
const { database } = queue;

const KEEP = { okMs: 86_400_000, failedMs: 1_209_600_000 };
const OK: Settlement = { to: 'ok', processed: 'ok', followOn: [] };
const POISON: Settlement = {
  to: 'failed',
  processed: 'poison',
  reason: 'poison',
  last: 'poison',
  message: 'no such row',
};
const retry = (delayMs: number): Settlement => ({
  to: 'queued',
  processed: 'retry',
  delayMs,
  giveBack: false,
  failure: { reason: 'error', message: '502' },
});
const snoozed: Settlement = {
  to: 'queued',
  processed: 'snoozed',
  delayMs: 60_000,
  giveBack: true,
  failure: { reason: 'snooze', message: 'at the limit' },
};

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
    expect(ended.filter(({ status }) => status === 'ERROR')).toMatchObject([
      {
        keptSeconds: 1_209_600,
        failure_reason: 'poison',
        failure_message: 'no such row',
        failures: [
          { attempt: 1, reason: 'poison', message: 'no such row', at: expect.any(String) },
        ],
      },
    ]);
    const counts = await database.db
      .selectFrom('task_counts')
      .select(['outcome', 'failure_reason', 'ended', 'hour'])
      .orderBy('ended')
      .execute();
    expect(counts).toMatchObject([
      { outcome: 'ERROR', failure_reason: 'poison', ended: 1 },
      { outcome: 'OK', failure_reason: null, ended: 2 },
    ]);
    expect(counts[0]?.hour.getTime()).toBe(
      Math.floor((ended[0]?.finished_at.getTime() ?? 0) / 3_600_000) * 3_600_000,
    );
  });

  test('the late settle of a lost claim changes nothing (D6)', async () => {
    await queue.enqueue(task('a', 'x'));
    const late = await claimOne();
    await queue.letClaimsExpire();
    const next = await claimOne();
    const before = await tasks();
    for (const settlement of [OK, POISON, retry(0)]) {
      expect(await writeSettlements(database.db, [{ claim: late, settlement }], KEEP)).toEqual(
        new Set(),
      );
    }
    expect(
      await writeSettlements(
        database.db,
        [{ claim: { ...next, holder: 'other' }, settlement: OK }],
        KEEP,
      ),
    ).toEqual(new Set());
    expect(await tasks()).toMatchObject([
      { id: next.id, fence: next.fence, status: 'running', attempt: before[0]?.attempt },
    ]);
    expect(await operations()).toEqual([]);
    expect(await writeSettlements(database.db, [{ claim: next, settlement: OK }], KEEP)).toEqual(
      new Set([next.id]),
    );
  });

  test('a retry waits, counts its attempt and stores its error (D4)', async () => {
    await queue.enqueue(task('a', 'x'));
    await writeSettlements(
      database.db,
      [{ claim: await claimOne(), settlement: retry(30_000) }],
      KEEP,
    );
    expect(await tasks()).toMatchObject([
      {
        status: 'queued',
        attempt: 1,
        dueInSeconds: expect.closeTo(30, -1),
        locked_by: null,
        failures: [{ attempt: 1, reason: 'error', message: '502' }],
      },
    ]);
  });

  test('a snooze gives its attempt back, and many in a row are one entry among the failures (D4)', async () => {
    await queue.enqueue(task('a', 'x'));
    await writeSettlements(database.db, [{ claim: await claimOne(), settlement: retry(0) }], KEEP);
    for (let n = 0; n < 12; n++) {
      await queue.makeDue();
      await writeSettlements(database.db, [{ claim: await claimOne(), settlement: snoozed }], KEEP);
    }
    expect(await tasks()).toMatchObject([
      {
        attempt: 1,
        dueInSeconds: expect.closeTo(60, -1),
        failures: [{ reason: 'error' }, { reason: 'snooze' }],
      },
    ]);
  });

  test.each([
    ['later', 600_000, 0],
    ['earlier', 0, 600],
  ])(
    'a retry absorbs its successor and is due at the earlier instant: the retry is the %s one (D14)',
    async (_which, delayMs, successorSeconds) => {
      const { db } = database;
      const [first] = await queue.enqueue(task('a', 'x'));
      const claim = await claimOne();
      const [successor] = await queue.enqueue(
        task('a', 'x', { dueInMs: successorSeconds * 1_000 }),
      );
      expect(await writeSettlements(db, [{ claim, settlement: retry(delayMs) }], KEEP)).toEqual(
        new Set([first?.id]),
      );
      expect(await tasks()).toMatchObject([
        { id: first?.id, status: 'queued', attempt: 1, dueInSeconds: expect.closeTo(0, -1) },
      ]);
      expect(await operations()).toMatchObject([
        { id: successor?.id, status: 'OK', output: { mergedInto: first?.id } },
      ]);
    },
  );

  test('a successor that is committed while the retry is written is absorbed too (D14)', async () => {
    const { db } = database;
    const [first] = await queue.enqueue(task('a', 'x'));
    const claim = await claimOne();
    const enqueuing = await db.startTransaction().execute();
    const [successor] = await enqueue(enqueuing, [task('a', 'x')]);
    const settled = writeSettlements(db, [{ claim, settlement: retry(60_000) }], KEEP);
    await untilBlocked(db);
    await enqueuing.commit().execute();
    expect(await settled).toEqual(new Set([first?.id]));
    expect(await tasks()).toMatchObject([
      { id: first?.id, status: 'queued', dueInSeconds: expect.closeTo(0, -1) },
    ]);
    expect(await operations()).toMatchObject([
      { id: successor?.id, output: { mergedInto: first?.id } },
    ]);
  });

  test('follow-ons are made with the settle or not at all, two for one subject as one (D14)', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'x'), task('a', 'y'));
    const claims = await claimAll();
    const settlement: Settlement = {
      to: 'ok',
      processed: 'ok',
      followOn: [task('next', 'one'), task('next', 'two')],
    };
    const unit = claims.map((claim) => ({ claim, settlement }));
    const broken: Settlement = {
      ...settlement,
      followOn: [task('next', 'three'), task('next', 'bad', { maxAttempts: Number.NaN })],
    };
    const [first] = claims;
    await expect(
      writeSettlements(db, first === undefined ? [] : [{ claim: first, settlement: broken }], KEEP),
    ).rejects.toMatchObject({
      code: '22P02',
    });
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
