import { describe, expect, test } from '@jest/globals';
import { createTask } from 'node-cron';
import {
  cadenceOf,
  cronExpression,
  evenExpression,
  missedTicks,
  nominalTick,
} from './nominal-tick.ts';

const instant = (text: string): Date => new Date(`2026-03-29T${text}Z`);

describe('nominal ticks (E9)', () => {
  test.each([
    ['12:04:59.999', '0 */5 * * * *', '12:00:00.000'],
    ['12:05:00.000', '0 */5 * * * *', '12:05:00.000'],
    ['12:05:00.001', '0 */5 * * * *', '12:05:00.000'],
    ['12:05:03.500', '*/2 * * * * *', '12:05:02.000'],
    ['12:05:03.500', '0 0 0 * * *', '00:00:00.000'],
    ['12:05:03.500', '30 17,50 9-11 * * *', '11:50:30.000'],
  ])('at %s the schedule %s ticked last at %s', (now, cron, expected) => {
    expect(nominalTick(instant(now), cron)).toEqual(instant(expected));
  });

  test('before the first tick of a day the last one was yesterday’s', () => {
    const yesterday = new Date('2026-03-28T11:50:30Z');
    expect(nominalTick(instant('09:17:29.999'), '30 17,50 9-11 * * *')).toEqual(yesterday);
  });

  test('are node-cron’s own, one after the other', () => {
    for (const seconds of [1, 15, 60, 300, 3_600, 21_600, 86_400]) {
      const cron = cronExpression(seconds);
      const task = createTask(cron, () => undefined, { timezone: 'Etc/UTC' });
      const ticks = task.getNextRuns(3);
      expect(ticks.map((tick) => nominalTick(tick, cron))).toEqual(ticks);
      const before = ticks.map((tick) => nominalTick(new Date(tick.getTime() - 1), cron));
      expect(before.slice(1)).toEqual(ticks.slice(0, -1));
      expect(cadenceOf(cron)).toBe(seconds);
    }
  });

  const FIVE_MINUTES = '0 */5 * * * *';

  test('ticks between the previous one and this one were missed; the first one ever misses none', () => {
    expect(missedTicks(instant('12:00:00'), instant('12:20:00'), FIVE_MINUTES)).toBe(3);
    expect(missedTicks(instant('12:00:00'), instant('12:05:00'), FIVE_MINUTES)).toBe(0);
    expect(missedTicks(null, instant('12:05:00'), FIVE_MINUTES)).toBe(0);
  });

  test('a cadence that was lengthened in between counts no missed tick', () => {
    expect(missedTicks(instant('12:58:00'), instant('13:00:00'), '0 0 * * * *')).toBe(0);
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
    expect(evenExpression(seconds)).toBeUndefined();
    expect(() => cronExpression(seconds)).toThrow(RangeError);
  });
});
