import { describe, expect, test } from '@jest/globals';
import { backoffMs, decideSettlement } from './decide-settlement.ts';
import { done, type Outcome, poison, snooze, type Task } from './kind.ts';
import { runOf, type RunResult } from './run-handler.ts';

const RULES = {
  backoff: { firstMs: 1_000, longestMs: 60_000 },
  mask: (text: string) => text,
  random: () => 0.5,
  timeoutMs: 250,
};
const first = { attempt: 1, maxAttempts: 5, deliveryGuid: 'guid-1' };
const last = { ...first, attempt: 5 };
const ended = (outcome: Outcome): RunResult => ({ ended: 'outcome', outcome });

describe('decideSettlement', () => {
  test('done keeps the output as JSON and gives follow-ons the delivery of their parent', () => {
    const next = { kind: 'next', subject: { type: 'worker', id: 'a' } };
    const own = { ...next, deliveryGuid: 'guid-2' };
    expect(decideSettlement(first, ended(done({ ids: [1] }, [next, own])), RULES)).toEqual({
      to: 'ok',
      processed: 'ok',
      output: '{"ids":[1]}',
      followOn: [{ ...next, deliveryGuid: 'guid-1' }, own],
    });
  });

  test('snooze costs no attempt, on the last one too (D4)', () => {
    const failure = { reason: 'snooze', message: 'at the rate limit' };
    const settled = { to: 'queued', processed: 'snoozed', delayMs: 5_000, failure };
    expect(decideSettlement(last, ended(snooze(5_000, failure.message)), RULES)).toEqual(settled);
  });

  test('poison ends the task at once (D4)', () => {
    const settled = { to: 'failed', processed: 'poison', reason: 'poison', message: 'gone' };
    expect(decideSettlement(first, ended(poison('gone')), RULES)).toEqual(settled);
  });

  test.each<[string, RunResult, string]>([
    ['an exception', { ended: 'thrown', thrown: new Error('502') }, '502'],
    ['a thrown non-Error', { ended: 'thrown', thrown: 'plain' }, 'plain'],
    [
      'an endless snooze',
      ended(snooze(Number.POSITIVE_INFINITY, 'for ever')),
      'the handler asked for a snooze of Infinity ms: for ever',
    ],
    ['an output without JSON', ended(done(1n)), 'Do not know how to serialize a BigInt'],
    [
      'an outcome that is none',
      JSON.parse('{"ended":"outcome"}'),
      'the handler returned no outcome: it must return done(), snooze() or poison()',
    ],
  ])('%s is an error that may pass (D4)', (_what, result, message) => {
    const failure = { reason: 'error', message };
    const retry = { to: 'queued', processed: 'retry', delayMs: 1_000, failure };
    expect(decideSettlement(first, result, RULES)).toEqual(retry);
    const failed = { to: 'failed', processed: 'failed', reason: 'attempts', message };
    expect(decideSettlement(last, result, RULES)).toEqual(failed);
  });

  test('a timeout is retried, and is the reason of the end when it was the last run (D13)', () => {
    const result: RunResult = { ended: 'interrupted', by: 'timeout' };
    const retry = { to: 'queued', delayMs: 2_000, failure: { reason: 'timeout' } };
    expect(decideSettlement({ ...first, attempt: 2 }, result, RULES)).toMatchObject(retry);
    const failed = { to: 'failed', reason: 'timeout' };
    expect(decideSettlement(last, result, RULES)).toMatchObject(failed);
  });

  test.each(['stopping', 'claim-lost'] as const)(
    'a run given up because of "%s" is no attempt and no failure (D7)',
    (by) => {
      const released = { to: 'queued', processed: 'released', delayMs: 0 };
      expect(decideSettlement(last, { ended: 'interrupted', by }, RULES)).toEqual(released);
    },
  );
});

const BACKOFF = { firstMs: 30_000, longestMs: 3_600_000 };

describe('backoffMs', () => {
  test.each([
    [1, 30_000],
    [2, 60_000],
    [7, 1_920_000],
    [8, 3_600_000],
    [2_000, 3_600_000],
  ])('waits after failure %i for %i ms in the middle of its window (D4)', (attempt, expected) => {
    expect(backoffMs(attempt, BACKOFF, () => 0.5)).toBe(expected);
  });

  test.each([
    [1, 0, 24_000],
    [1, 1, 36_000],
    [50, 0, 2_880_000],
    [50, 1, 4_320_000],
  ])(
    'stays within 20 %% of the exact wait: failure %i, at random %d (D4)',
    (attempt, random, wait) => {
      expect(backoffMs(attempt, BACKOFF, () => random)).toBe(wait);
    },
  );
});

const TASK = { id: 'id', kind: 'kind', payload: {} } as Task;
const LONG_MS = 60_000;

describe('a run', () => {
  test('gives up a handler that never settles and ignores its signal (D13)', async () => {
    let seen: AbortSignal | undefined;
    const run = runOf(
      (_task, signal) => {
        seen = signal;
        return new Promise(() => undefined);
      },
      TASK,
      20,
    );
    run.begin();
    expect(await run.result).toEqual({ ended: 'interrupted', by: 'timeout' });
    expect(seen?.aborted).toBe(true);
    expect(seen?.reason).toEqual(new Error('the run was interrupted: timeout'));
  });

  test('is interrupted for the first reason only, even if the handler goes on', async () => {
    const run = runOf(
      (_task, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
      TASK,
      LONG_MS,
    );
    run.begin();
    run.interrupt('claim-lost');
    run.interrupt('stopping');
    expect(await run.result).toEqual({ ended: 'interrupted', by: 'claim-lost' });
  });
});
