import { describe, expect, test } from '@jest/globals';
import type { WorkerToProvision } from '@paddock/db/workers/workers';
import { unheldWaitMs, LONGEST_UNHELD_MS, waitForReturn } from './wait-for-return.ts';

const aged = (seconds: number) => ({ ageMs: seconds * 1_000 }) as WorkerToProvision;
const AWAY = { message: 'no answer' };

describe('a worker that waits for GitHub or the cluster (C11, D4)', () => {
  test.each([
    ['alone and new, for a second', 0, 1_000],
    ['alone, for an eighth of its age', 80, 10_000],
    ['alone and old, for half a minute', 3_600, 30_000],
  ])('%s', (_, age, delayMs) => {
    expect(waitForReturn(aged(age), undefined, AWAY)).toEqual({
      outcome: 'snooze',
      delayMs,
      reason: 'no answer',
    });
  });

  test('in the hold of a breaker, for as long as that pauses', () => {
    const hold = { waitMs: 7_000, heldBy: 'github:' };
    expect(waitForReturn(aged(3_600), hold, AWAY)).toEqual({
      outcome: 'snooze',
      delayMs: 7_000,
      reason: 'no answer',
      heldBy: 'github:',
    });
  });

  test('and no shorter than the requested wait', () => {
    expect(waitForReturn(aged(0), undefined, { ...AWAY, retryAfterMs: 9_000 })).toMatchObject({
      delayMs: 9_000,
    });
  });

  test('spends attempts when it has failed alone for four minutes', () => {
    expect(unheldWaitMs(aged(240))).toBe(LONGEST_UNHELD_MS);
    expect(unheldWaitMs(aged(241))).toBeGreaterThan(LONGEST_UNHELD_MS);
  });
});
