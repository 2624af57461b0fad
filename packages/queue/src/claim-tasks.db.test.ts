import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type ClaimedTask, ENOUGH_LEFT, MOST_CRASHES, shareLeft } from './claim-tasks.ts';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';

const queue = useQueue();
const { database } = queue;

const { claim } = queue;
const flood = (kind: string, count: number) =>
  sql`insert into tasks (kind, subject_type, subject_id, max_attempts, due_at)
      select ${kind}, 'worker', 'w-' || n, 5, now() - interval '1 hour' from generate_series(1, ${count}::integer) n`.execute(
    database.db,
  );

const subjectOf = ({ subjectId }: ClaimedTask) => subjectId;

describe('claimTasks', () => {
  test('concurrent claimers take distinct tasks, each one of them once (D2)', async () => {
    await flood('a', 200);
    const claimers = Array.from({ length: 10 }, (_, n) => claim({ a: 30 }, { holder: `h-${n}` }));
    const ids = (await Promise.all(claimers)).flat().map(({ id }) => id);
    const rest = await claim({ a: 200 });
    expect(new Set([...ids, ...rest.map(({ id }) => id)]).size).toBe(200);
    expect(ids.length + rest.length).toBe(200);
  });

  test('two claimers of one row: one holder, and the other does not wait for it (D2)', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'x'));
    await db.transaction().execute(async (one) => {
      expect(await claim({ a: 1 }, { holder: 'one' }, one)).toHaveLength(1);
      expect(await claim({ a: 1 }, { holder: 'two' })).toEqual([]);
    });
    expect(await claim({ a: 1 }, { holder: 'two' })).toEqual([]);
    expect(await queue.tasks()).toMatchObject([{ locked_by: 'one', fence: 1, attempt: 1 }]);
  });

  test('takes the oldest due first, no more than there are slots, and no kind it was not asked for (D7, D11)', async () => {
    const { db } = database;
    await queue.enqueue(
      task('a', 'young'),
      task('a', 'old'),
      task('a', 'middle'),
      task('b', 'x'),
      task('a', 'later', { dueInMs: 60_000 }),
    );
    await sql`update tasks set due_at = now() - case subject_id when 'old' then interval '2 min' else interval '1 min' end
              where subject_id in ('old', 'middle')`.execute(db);
    expect((await claim({ a: 2 })).map(subjectOf).toSorted()).toEqual(['middle', 'old']);
    expect((await claim({ a: 2 })).map(subjectOf)).toEqual(['young']);
    expect(await claim({ a: 2, b: 0 })).toEqual([]);
  });

  test('a flood of one kind does not hold up another (D11)', async () => {
    await flood('flood', 10_000);
    await queue.enqueue(task('b', 'x'));
    const kinds = (await claim({ flood: 4, b: 2 })).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['b', 'flood', 'flood', 'flood', 'flood']);
  });

  test.each([true, false])(
    'a first claim is attempt 1 with a new fence, with a look at claims: %s',
    async (takeOver) => {
      await queue.enqueue(task('a', 'x', { payload: { n: 1 }, deliveryGuid: 'g' }));
      const first = { attempt: 1, crashes: 0, fence: 1, maxAttempts: 5, takenOver: false };
      const given = { payload: { n: 1 }, deliveryGuid: 'g', ended: false };
      expect(await claim({ a: 1 }, { takeOver })).toMatchObject([{ ...first, ...given }]);
    },
  );
});

describe('a task whose claim expired', () => {
  test('is taken over, which is a crash and no attempt (D5)', async () => {
    await queue.enqueue(task('a', 'x'));
    const [first] = await claim({ a: 1 });
    expect(await claim({ a: 1 })).toEqual([]);
    await queue.letClaimsExpire();
    expect(await claim({ a: 1 }, { takeOver: false })).toEqual([]);
    expect(await claim({ b: 1 })).toEqual([]);
    expect(await claim({ a: 1 }, { holder: 'other' })).toMatchObject([
      { id: first?.id, attempt: 1, crashes: 1, fence: 2, takenOver: true, ended: false },
    ]);
  });

  test('comes before due ones, inside the slots of its kind (D5, D7)', async () => {
    await queue.enqueue(task('a', 'stale'));
    await claim({ a: 1 });
    await queue.letClaimsExpire();
    await flood('a', 5);
    expect(await claim({ a: 2 })).toMatchObject([
      { takenOver: true, subjectId: 'stale' },
      { takenOver: false },
    ]);
  });

  test('ends as failed at the fourth crash, and frees its successor (D5, F3)', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'x'));
    await claim({ a: 1 });
    for (let crashes = 1; crashes <= 3; crashes++) {
      await queue.letClaimsExpire();
      expect(await claim({ a: 1 })).toMatchObject([{ crashes, attempt: 1, ended: false }]);
    }
    const [successor] = await queue.enqueue(task('a', 'x'));
    await queue.letClaimsExpire();
    expect(await claim({ a: 1 })).toMatchObject([
      { crashes: 4, ended: true },
      { id: successor?.id, ended: false },
    ]);
    const failures = Array.from({ length: 4 }, () => ({ reason: 'crash', attempt: 1 }));
    const ended = { status: 'ERROR', failure_reason: 'crashes', attempt: 0, crashes: 4, failures };
    expect(await queue.operations()).toMatchObject([ended]);
    expect(await db.selectFrom('task_counts').selectAll().execute()).toMatchObject([
      { kind: 'a', outcome: 'ERROR', failure_reason: 'crashes', ended: 1 },
    ]);
  });

  test('and ends takes no slot: due tasks are taken at once (D5, D7)', async () => {
    await queue.enqueue(task('a', 'spent'));
    await claim({ a: 1 });
    await queue.letClaimsExpire();
    await sql`update tasks set crashes = ${MOST_CRASHES}`.execute(database.db);
    await queue.enqueue(task('a', 'due'));
    expect(await claim({ a: 1 })).toMatchObject([
      { subjectId: 'spent', ended: true },
      { subjectId: 'due', ended: false },
    ]);
  });

  test('keeps the last ten failures', async () => {
    await queue.enqueue(task('a', 'x'));
    await claim({ a: 1 });
    for (let crashes = 1; crashes <= 12; crashes++) {
      await sql`update tasks set crashes = 0`.execute(database.db);
      await queue.letClaimsExpire();
      await claim({ a: 1 });
    }
    expect((await queue.tasks())[0]?.failures).toHaveLength(10);
  });
});

const CLAIM_MS = 15_000;

const claimAs = (holder: string, claimMs: number) => claim({ a: 1 }, { holder, claimMs });

/** As if the holder had written its claim so many seconds before. */
const letPass = (seconds: number) =>
  sql`update tasks set locked_until = locked_until - ${seconds} * interval '1 s'`.execute(
    database.db,
  );

test('a task is taken over when the claim of its holder is over, and not before, whatever claims the one that looks makes (D5)', async () => {
  for (const claimMs of [CLAIM_MS, 120_000]) {
    await sql`truncate tasks`.execute(database.db);
    await queue.enqueue(task('a', 'x'));
    expect(await claimAs('holder', claimMs)).toHaveLength(1);
    await letPass(claimMs / 1_000 - 1);
    expect(await claimAs('other', CLAIM_MS)).toEqual([]);
    await letPass(1);
    expect(await claimAs('other', CLAIM_MS)).toMatchObject([{ takenOver: true, crashes: 1 }]);
  }
});

test('a holder interrupts its run long before its claim is over (D5)', () => {
  expect(shareLeft(0, CLAIM_MS)).toBe(1);
  expect(shareLeft(9_900, CLAIM_MS)).toBeGreaterThan(ENOUGH_LEFT);
  expect(shareLeft(10_100, CLAIM_MS)).toBeLessThan(ENOUGH_LEFT);
  expect(shareLeft(16_000, CLAIM_MS)).toBe(0);
});
