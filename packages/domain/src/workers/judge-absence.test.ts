import { describe, expect, test } from '@jest/globals';
import { type DoubtedPods, judgeAbsence, NO_DOUBT } from './judge-absence.ts';

const names = (count: number) => Array.from({ length: count }, (_, index) => `pod-${index}`);
const DOUBT_MS = 30_000;

function judge({
  known,
  there,
  doubted = NO_DOUBT,
  nowMs = 0,
}: {
  known: number;
  there: number;
  doubted?: DoubtedPods;
  nowMs?: number;
}) {
  const { gone, doubted: left } = judgeAbsence(
    { known: names(known), present: new Set(names(there)), doubted, nowMs },
    DOUBT_MS,
  );
  return { gone: gone.length, doubted: left };
}

describe('pods that a list lacks (C8, P1, P6)', () => {
  test.each([
    ['none of many', { known: 3_000, there: 3_000 }, 0, 0],
    ['half of many', { known: 3_000, there: 1_500 }, 1_500, 0],
    ['all of few', { known: 9, there: 0 }, 9, 0],
    ['all of ten', { known: 10, there: 0 }, 0, 10],
    ['most of many', { known: 3_000, there: 1_499 }, 0, 1_501],
    ['all of many', { known: 3_000, there: 0 }, 0, 3_000],
  ])('%s', (_what, given, gone, doubted) => {
    const judged = judge(given);
    expect([judged.gone, judged.doubted.size]).toEqual([gone, doubted]);
  });

  test('are gone once a list lacks them that was read long enough after the first', () => {
    const first = judge({ known: 100, there: 0, nowMs: 1_000 });
    const soon = judge({ known: 100, there: 0, doubted: first.doubted, nowMs: 30_999 });
    expect([soon.gone, soon.doubted.size]).toEqual([0, 100]);
    expect(judge({ known: 100, there: 0, doubted: soon.doubted, nowMs: 31_000 })).toEqual({
      gone: 100,
      doubted: new Map(),
    });
  });

  test('are doubted each from when it was first missed', () => {
    const first = judge({ known: 100, there: 0, nowMs: 1_000 });
    const later = judge({ known: 150, there: 0, doubted: first.doubted, nowMs: 31_000 });
    expect([later.gone, later.doubted.size]).toEqual([100, 50]);
  });

  test('are doubted no more after a list that has them', () => {
    const first = judge({ known: 100, there: 0, nowMs: 1_000 });
    expect(judge({ known: 100, there: 99, doubted: first.doubted, nowMs: 2_000 })).toEqual({
      gone: 1,
      doubted: NO_DOUBT,
    });
  });
});
