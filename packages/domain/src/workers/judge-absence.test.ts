import { describe, expect, test } from '@jest/globals';
import { type UnconfirmedPods, judgeAbsence, NONE_UNCONFIRMED } from './judge-absence.ts';

const names = (count: number) => Array.from({ length: count }, (_, index) => `pod-${index}`);
const CONFIRM_AFTER_MS = 30_000;

function judge({
  known,
  there,
  unconfirmed = NONE_UNCONFIRMED,
  nowMs = 0,
}: {
  known: number;
  there: number;
  unconfirmed?: UnconfirmedPods;
  nowMs?: number;
}) {
  const { gone, unconfirmed: left } = judgeAbsence(
    { known: names(known), present: new Set(names(there)), unconfirmed, nowMs },
    CONFIRM_AFTER_MS,
  );
  return { gone: gone.length, unconfirmed: left };
}

describe('pods that a list lacks (C8, P1, P6)', () => {
  test.each([
    ['none of many', { known: 3_000, there: 3_000 }, 0, 0],
    ['half of many', { known: 3_000, there: 1_500 }, 1_500, 0],
    ['all of few', { known: 9, there: 0 }, 9, 0],
    ['all of ten', { known: 10, there: 0 }, 0, 10],
    ['most of many', { known: 3_000, there: 1_499 }, 0, 1_501],
    ['all of many', { known: 3_000, there: 0 }, 0, 3_000],
  ])('%s', (_what, given, gone, unconfirmed) => {
    const judged = judge(given);
    expect([judged.gone, judged.unconfirmed.size]).toEqual([gone, unconfirmed]);
  });

  test('are gone once a list lacks them that was read long enough after the first', () => {
    const first = judge({ known: 100, there: 0, nowMs: 1_000 });
    const soon = judge({ known: 100, there: 0, unconfirmed: first.unconfirmed, nowMs: 30_999 });
    expect([soon.gone, soon.unconfirmed.size]).toEqual([0, 100]);
    expect(judge({ known: 100, there: 0, unconfirmed: soon.unconfirmed, nowMs: 31_000 })).toEqual({
      gone: 100,
      unconfirmed: new Map(),
    });
  });

  test('are unconfirmed each from when it was first missed', () => {
    const first = judge({ known: 100, there: 0, nowMs: 1_000 });
    const later = judge({ known: 150, there: 0, unconfirmed: first.unconfirmed, nowMs: 31_000 });
    expect([later.gone, later.unconfirmed.size]).toEqual([100, 50]);
  });

  test('are unconfirmed no more after a list that has them', () => {
    const first = judge({ known: 100, there: 0, nowMs: 1_000 });
    expect(judge({ known: 100, there: 99, unconfirmed: first.unconfirmed, nowMs: 2_000 })).toEqual({
      gone: 1,
      unconfirmed: NONE_UNCONFIRMED,
    });
  });
});
