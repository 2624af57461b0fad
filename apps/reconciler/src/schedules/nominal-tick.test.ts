import { describe, expect, test } from '@jest/globals';
import { cronExpression } from './cron-expression.ts';
import { missedTicks, nominalTick } from './nominal-tick.ts';

const instant = (text: string): Date => new Date(`2026-03-29T${text}Z`);

describe('nominal ticks (E9)', () => {
  test.each([
    ['12:04:59.999', 300, '12:00:00.000'],
    ['12:05:00.000', 300, '12:05:00.000'],
    ['12:05:00.001', 300, '12:05:00.000'],
    ['12:05:03.500', 2, '12:05:02.000'],
    ['12:05:03.500', 86_400, '00:00:00.000'],
  ])('at %s a schedule of %d s ticked last at %s', (now, everySeconds, expected) => {
    expect(nominalTick(instant(now), everySeconds)).toEqual(instant(expected));
  });

  test('ticks between the previous one and this one were missed; the first one ever misses none', () => {
    expect(missedTicks(instant('12:00:00'), instant('12:20:00'), 300)).toBe(3);
    expect(missedTicks(instant('12:00:00'), instant('12:05:00'), 300)).toBe(0);
    expect(missedTicks(null, instant('12:05:00'), 300)).toBe(0);
  });

  test('a cadence that was lengthened in between counts no missed tick', () => {
    expect(missedTicks(instant('12:58:00'), instant('13:00:00'), 3600)).toBe(0);
  });
});

describe('cron expressions of cadences', () => {
  test.each([
    [1, '*/1 * * * * *'],
    [15, '*/15 * * * * *'],
    [60, '0 */1 * * * *'],
    [300, '0 */5 * * * *'],
    [3600, '0 0 */1 * * *'],
    [21_600, '0 0 */6 * * *'],
    [86_400, '0 0 0 * * *'],
  ])('%d s is %s', (seconds, expression) => {
    expect(cronExpression(seconds)).toBe(expression);
  });

  test.each([7, 45, 90, 420, 5400, 18_000, 172_800])('%d s cannot be said evenly', (seconds) => {
    expect(cronExpression(seconds)).toBeUndefined();
  });
});
