import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import type { DeliveredStatement } from '../deliveries/workflow-job-event.ts';
import { queuedJob } from '../scenes/deliveries.scene.ts';
import { type JobRow, mergeStatement, type StatementToMerge } from './merge-statement.ts';

const NOW = Date.parse('2026-01-01T01:00:00.000Z');
const at = (second: number): string => new Date(NOW - 60_000 + 1_000 * second).toISOString();
const SMALL = { pool: 'small', image: 'runner:1', scopeRepoId: 0 };
const LARGE = { pool: 'large', image: 'runner:9', scopeRepoId: 4 };

const facts = (changes: Partial<DeliveredStatement> = {}): DeliveredStatement => ({
  ...queuedJob(),
  queuedAt: at(0),
  appId: 5,
  deliveryGuid: 'a',
  ...changes,
});

type Changes = Partial<DeliveredStatement> & Partial<Omit<StatementToMerge, 'facts'>>;

function statement({ place, poolsVersion, worker, installationId, ...changes }: Changes) {
  return {
    facts: facts(changes),
    place: place ?? SMALL,
    poolsVersion: poolsVersion ?? 1,
    worker: worker ?? null,
    installationId: installationId ?? 0,
  };
}

const queued = statement({});
const instant = (second: number | null) => (second === null ? null : at(second));
const run = (second: number | null, runnerName: string | null, more: Changes = {}) =>
  statement({ status: 'running', startedAt: instant(second), runnerName, ...more });
const end = (second: number | null, conclusion: string | null, more: Changes = {}) =>
  statement({
    status: 'completed',
    startedAt: at(9),
    runnerName: 'last',
    conclusion,
    completedAt: instant(second),
    ...more,
  });

function rowOf(...statements: StatementToMerge[]): JobRow {
  let row: JobRow | undefined;
  for (const one of statements) row = mergeStatement(row, one, NOW);
  if (row === undefined) throw new Error('The statements make no row.');
  return row;
}

/** As after a change that only we make to a row. */
const changed = (row: JobRow, changes: Partial<JobRow>): JobRow => ({ ...row, ...changes });

describe('mergeStatement', () => {
  const one = fc.oneof(
    fc
      .record({
        workflowName: fc.constantFrom(null, 'CI'),
        appId: fc.constantFrom(5, 6),
        poolsVersion: fc.constantFrom(1, 2),
      })
      .map((changes) => statement(changes)),
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom('one', 'two'))
      .map((given) => run(...given)),
    fc
      .tuple(fc.integer({ min: 10, max: 12 }), fc.constantFrom('success', 'failure'))
      .map((given) => end(...given)),
  );

  test('neither the order of statements nor repetitions change the row (A5, B6)', () => {
    const shuffled = fc
      .array(one, { minLength: 1, maxLength: 8 })
      .chain((list) =>
        fc.tuple(
          fc.constant(list),
          fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 }),
        ),
      );
    fc.assert(
      fc.property(shuffled, ([list, mixed]) => {
        expect(rowOf(...mixed)).toEqual({ ...rowOf(...list), poolsVersion: expect.any(Number) });
      }),
    );
  });

  test('a repetition returns the same row (A5)', () => {
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 8 }), (list) => {
        const row = rowOf(...list);
        const repeated = list.filter(({ poolsVersion }) => poolsVersion === row.poolsVersion);
        for (const again of repeated) expect(mergeStatement(row, again, NOW)).toBe(row);
      }),
    );
  });

  test('the status moves forward only, and missing facts of other statements are filled in (A6)', () => {
    const row = rowOf(
      statement({ workflowName: 'CI', installationId: 6 }),
      end(20, 'success', { queuedAt: null, startedAt: null, runnerName: null }),
      run(10, 'one', { runnerId: 7, worker: { podName: 'one', ...LARGE } }),
    );
    expect(row).toMatchObject({
      ...SMALL,
      status: 'completed',
      wantsWorker: false,
      conclusion: 'success',
      workflowName: 'CI',
      installationId: 6,
      runnerName: 'one',
      runnerId: 7,
      podName: 'one',
      queuedAt: at(0),
      startedAt: at(10),
      completedAt: at(20),
      misjudged: false,
    });
  });

  test('of two runs the later start names the runner, its id and its worker', () => {
    const early = run(1, 'one', { runnerId: 7, worker: { podName: 'one', ...SMALL } });
    const late = run(2, 'two');
    const expected = { runnerName: 'two', runnerId: null, podName: null, startedAt: at(2) };
    expect(rowOf(early, late)).toMatchObject(expected);
    expect(rowOf(late, early)).toMatchObject(expected);
  });

  const full = { runnerId: 7, worker: { podName: 'one', ...SMALL } };
  const ofOne = { runnerName: 'one', runnerId: 7, podName: 'one', startedAt: at(1) };
  const ofLast = { runnerName: 'last', startedAt: at(9) };
  const endOfNoRunner = end(20, 'success', { runnerName: null, startedAt: null });

  const two = { runnerName: 'two' };
  test.each<[string, StatementToMerge, StatementToMerge, Partial<JobRow>]>([
    ['of runs with one start, the greater name counts', run(1, 'one'), run(1, 'two'), two],
    ['of runs without a start, the greater name counts', run(null, 'one'), run(null, 'two'), two],
    ['a run with a start counts before one without', run(1, 'one', full), run(null, 'two'), ofOne],
    ['a run’s facts come from its other statement', run(1, 'one', full), run(1, 'one'), ofOne],
    ['an end without a runner leaves the known one', run(1, 'one', full), endOfNoRunner, ofOne],
    ['the end names the runner, not a later start', run(15, 'two'), end(20, 'success'), ofLast],
    ['a missing link is filled in', statement({ htmlUrl: 'x' }), queued, { htmlUrl: 'x' }],
    [
      'an App’s installation is filled in',
      statement({ installationId: 50 }),
      queued,
      { appId: 5, installationId: 50 },
    ],
    [
      'of two ends without an instant the lesser conclusion counts',
      end(null, 'success'),
      end(null, 'failure'),
      { completedAt: null, conclusion: 'failure' },
    ],
  ])('%s, in both orders (A6)', (_rule, a, b, expected) => {
    expect(rowOf(a, b)).toMatchObject(expected);
    expect(rowOf(b, a)).toMatchObject(expected);
  });

  test.each([
    ['the later is known', end(15, 'success'), end(13, 'failure'), 13, 'failure'],
    ['one does not say when', end(null, 'success'), end(19, 'success'), 19, 'success'],
    ['one says another, not when', end(null, 'failure'), end(19, 'success'), 19, 'success'],
    ['both were at one instant', end(15, 'success'), end(15, 'failure'), 15, 'failure'],
    ['the first has no conclusion', end(13, null), end(15, 'failure'), 13, 'failure'],
  ])('of two ends the earlier counts, where %s (A6)', (_, a, b, second, conclusion) => {
    expect(rowOf(a, b)).toMatchObject({ completedAt: at(second), conclusion });
    expect(rowOf(b, a)).toMatchObject({ completedAt: at(second), conclusion });
  });

  test('of two Apps that state one job the first by its id counts, with its own installation', () => {
    const other = statement({ appId: 6, installationId: 60, status: 'running', startedAt: at(1) });
    const row = rowOf(other, statement({ installationId: 50 }));
    expect(row).toMatchObject({ appId: 5, installationId: 50, status: 'running' });
  });

  test('a job without a pool has a row only with one of our workers, and then in its pool (B7)', () => {
    const unserved = { ...queued, place: undefined };
    expect(mergeStatement(undefined, unserved, NOW)).toBeUndefined();
    const ours = { ...run(1, 'one', { worker: { podName: 'one', ...LARGE } }), place: undefined };
    expect(rowOf(ours)).toMatchObject({ ...LARGE, podName: 'one', wantsWorker: false });
    expect(rowOf(queued, ours)).toMatchObject({ ...SMALL, podName: 'one' });
  });

  test('an old delivery is no demand before a look-up, but the look-up’s statement is', () => {
    const old = { queuedAt: new Date(NOW - 86_400_001).toISOString() };
    expect(rowOf(statement(old))).toMatchObject({ wantsWorker: false, isInDoubt: true });
    const lookedUp = rowOf(statement({ ...old, deliveryGuid: null }));
    expect(lookedUp).toMatchObject({ wantsWorker: true, isInDoubt: false });
  });

  test('a job that is no demand because GitHub hid its repository is demand again with a delivery', () => {
    const hidden = changed(rowOf(queued), { wantsWorker: false, isHidden: true });
    for (const [news, wantsWorker] of [
      [queued, true],
      [run(1, 'one'), false],
    ] as const)
      expect(mergeStatement(hidden, news, NOW)).toMatchObject({ wantsWorker, isHidden: false });
    const failed = changed(hidden, { status: 'failed' });
    expect(mergeStatement(failed, queued, NOW)).toMatchObject({ wantsWorker: false });
  });

  test('a demand that GitHub has confirmed outlives a repeated in_progress, not a new one (A6)', () => {
    const requeued = changed(rowOf(queued, run(1, 'one')), { wantsWorker: true, isInDoubt: true });
    expect(mergeStatement(requeued, run(1, 'one'), NOW)).toBe(requeued);
    const ended = end(20, 'success', { startedAt: at(1), runnerName: 'one' });
    for (const news of [run(2, 'two'), run(1, 'two'), run(2, 'one'), ended]) {
      const merged = mergeStatement(requeued, news, NOW);
      expect(merged).toMatchObject({ wantsWorker: false, isInDoubt: false });
    }
  });

  test('a job that runs is no demand, though its start and its runner are unknown (A6)', () => {
    expect(rowOf(queued, run(null, null))).toMatchObject({ status: 'running', wantsWorker: false });
  });

  test('a job that we failed stays failed, and is misjudged if GitHub completes it (A6)', () => {
    const failed = changed(rowOf(queued), { status: 'failed', wantsWorker: false });
    expect(mergeStatement(failed, end(10, 'success'), NOW)).toMatchObject({
      status: 'failed',
      misjudged: true,
      conclusion: 'success',
      runnerName: 'last',
    });
  });

  test('a job that we failed keeps its conclusion, and GitHub adds when it ended (A6)', () => {
    const failed = changed(rowOf(queued), { status: 'failed', conclusion: 'timed_out' });
    expect(mergeStatement(failed, end(10, 'success'), NOW)).toMatchObject({
      conclusion: 'timed_out',
      completedAt: at(10),
    });
  });

  test('a newer pools document moves a job that waits, and no other', () => {
    const moved = statement({ place: LARGE, poolsVersion: 2 });
    expect(rowOf(queued, moved)).toMatchObject({ ...LARGE, poolsVersion: 2 });
    const old = statement({ place: LARGE });
    expect(rowOf(queued, old)).toEqual(rowOf(queued));
    expect(rowOf(queued, run(1, 'one'), moved)).toMatchObject(SMALL);
  });

  test.each([
    ['to another pool of the same scope', { ...SMALL, pool: 'large' }],
    ['to another scope of the same pool', { ...SMALL, scopeRepoId: 4 }],
  ])('a newer pools document moves a job that waits %s', (_where, place) => {
    const moved = statement({ place, poolsVersion: 2 });
    expect(rowOf(queued, moved)).toMatchObject({ ...place, poolsVersion: 2 });
  });

  test.each([
    ['has a newer image for its pool', { ...SMALL, image: 'runner:2' }],
    ['has no pool for it', undefined],
  ])('a job that waits keeps its place where a newer pools document %s', (_what, place) => {
    const row = rowOf(queued);
    expect(mergeStatement(row, { ...queued, place, poolsVersion: 2 }, NOW)).toBe(row);
  });
});
