import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { dates } from './dates.ts';

const schema = z.object(dates);

describe('the dates of a list', () => {
  test('a day belongs to it whole, in UTC', () => {
    expect(schema.parse({ from: '2026-01-31', to: '2026-01-31' })).toEqual({
      from: new Date('2026-01-31T00:00:00Z'),
      to: new Date('2026-02-01T00:00:00Z'),
    });
  });

  test.each([
    ['-7d', 7 * 24],
    ['-24h', 24],
    ['-0h', 0],
  ])('%s is %i hours ago', (text, hours) => {
    const before = Date.now();
    const { from } = schema.parse({ from: text });
    const ms = (from?.getTime() ?? NaN) + hours * 3_600_000;
    expect(ms).toBeGreaterThanOrEqual(before);
    expect(ms).toBeLessThanOrEqual(Date.now());
  });

  test.each([
    '',
    '2026-02-30',
    '2026-1-3',
    '31.01.2026',
    '7d',
    '-7w',
    '-99999d',
    '-1.5d',
    'yesterday',
    '2026-01-31T09:00:00',
    '2026-01-31 09:00:00Z',
    'x'.repeat(100_000),
  ])('%s is refused', (text) => {
    expect(schema.safeParse({ from: text }).success).toBe(false);
    expect(schema.safeParse({ to: text }).success).toBe(false);
  });
});
