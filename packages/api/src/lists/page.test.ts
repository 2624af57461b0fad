import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { after, limit, rowsToRead, toPageBy } from './page.ts';

const position = after(z.tuple([z.string(), z.int()]));
const page = (rows: readonly number[], size: number) =>
  toPageBy(rows.slice(0, rowsToRead(size)), size, (row) => [`é${row}`, row]);

describe('a page', () => {
  test.each([
    { rows: [], items: [], at: undefined },
    { rows: [1], items: [1], at: undefined },
    { rows: [1, 2], items: [1, 2], at: undefined },
    { rows: [1, 2, 3], items: [1, 2], at: ['é2', 2] },
    { rows: [1, 2, 3, 4], items: [1, 2], at: ['é2', 2] },
  ])('of two of $rows shows $items and goes on after $at', ({ rows, items, at }) => {
    const { items: shown, next } = page(rows, 2);
    expect(shown).toEqual(items);
    expect(position.parse(next ?? undefined)).toEqual(at);
  });

  test.each([
    ['no base64', '%%%'],
    ['no JSON', Buffer.from('x').toString('base64url')],
    ['values of another list', Buffer.from('["a"]').toString('base64url')],
    ['values of other types', Buffer.from('[1,"a"]').toString('base64url')],
    ['too long', 'A'.repeat(1_001)],
    ['nothing', ''],
  ])('is not found by a cursor that is %s', (_what, cursor) => {
    expect(position.safeParse(cursor).success).toBe(false);
  });

  test.each(['0', '101', '1.5', 'x', '-1', 'Infinity'])('never has the size %s', (size) => {
    expect(limit.safeParse(size).success).toBe(false);
  });
});
