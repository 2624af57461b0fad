import { describe, expect, test } from '@jest/globals';
import { createTask } from 'node-cron';
import { cronExpression, missedTicks, nominalTick } from './nominal-tick.ts';

const instant = (text: string): Date => new Date(`2026-03-29T${text}Z`);

describe('nominal ticks (E9)', () => {
  test.each([1, 15, 60, 300, 3_600, 21_600, 86_400])(
    'of each %d s are node-cron’s own, one after the other',
    (seconds) => {
      const task = createTask(cronExpression(seconds), () => undefined, { timezone: 'Etc/UTC' });
      const ticks = task.getNextRuns(3);
      expect(ticks.map((tick) => nominalTick(tick, seconds))).toEqual(ticks);
      const before = ticks.map((tick) => nominalTick(new Date(tick.getTime() - 1), seconds));
      expect(before.slice(1)).toEqual(ticks.slice(0, -1));
    },
  );

  test.each([7, 45, 90, 420, 5400, 18_000, 172_800])('cannot be even each %d s', (seconds) => {
    expect(() => cronExpression(seconds)).toThrow(RangeError);
  });

  test.each([
    ['between the previous one and this one were missed', instant('12:00:00'), 300, 3],
    ['before the first one were not', null, 300, 0],
    ['of a cadence that was lengthened meanwhile were not', instant('12:19:00'), 3_600, 0],
  ])('%s', (_which, previous, everySeconds, missed) => {
    expect(missedTicks(previous, instant('12:20:00'), everySeconds)).toBe(missed);
  });
});
