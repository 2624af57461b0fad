import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { dates } from './dates.ts';
import { pageInput, toPage } from './page.ts';

const { after, limit } = pageInput(z.tuple([z.string(), z.int()]));

describe('a page', () => {
  test.each([
    { rows: [], items: [], at: undefined },
    { rows: [1, 2], items: [1, 2], at: undefined },
    { rows: [1, 2, 3], items: [1, 2], at: ['é2', 2] },
    { rows: [1, 2, 3, 4], items: [1, 2], at: ['é2', 2] },
  ])('of two of $rows shows $items and goes on after $at', ({ rows, items, at }) => {
    const read = limit.parse('2');
    const placed = rows.map((row) => ({ row, position: [`é${row}`, row] }));
    const page = toPage(placed.slice(0, read), read);
    expect(page.items.map(({ row }) => row)).toEqual(items);
    expect(after.parse(page.next ?? undefined)).toEqual(at);
  });

  test.each([
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('x').toString('base64url')],
    ['values of another list', Buffer.from('["a"]').toString('base64url')],
    ['values of other types', Buffer.from('[1,"a"]').toString('base64url')],
    ['too long', 'A'.repeat(1_001)],
    ['nothing', ''],
  ])('is not found by a cursor that is %s', (_what, cursor) => {
    expect(after.safeParse(cursor).success).toBe(false);
  });

  test.each(['0', '101', '1.5', 'x', '-1', 'Infinity'])('never has the size %s', (size) => {
    expect(limit.safeParse(size).success).toBe(false);
  });
});

describe('the dates of a list', () => {
  const schema = z.object(dates);

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

  const WRONG = ['', '2026-02-30', '2026-1-3', '31.01.2026', '7d', '-7w', '-99999d', '-1.5d'];
  WRONG.push('yesterday', '2026-01-31T09:00:00', '2026-01-31 09:00:00Z', 'x'.repeat(100_000));
  test.each(WRONG)('%s is refused', (text) => {
    expect(schema.safeParse({ from: text }).success).toBe(false);
    expect(schema.safeParse({ to: text }).success).toBe(false);
  });
});
