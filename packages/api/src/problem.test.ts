import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { mistakeInWords } from './problem.ts';
import { pageInput } from './lists/page.ts';

const schema = z.strictObject({
  owner: z.string(),
  job: z.coerce.number().int().positive(),
  limit: pageInput(z.unknown()).limit,
  name: z.string().min(1).max(3),
  state: z.enum(['waiting', 'ended']),
  delivery: z.guid(),
  at: z.string().refine(() => false, 'must be a day (2026-01-31)'),
});

test('the API names mistakes in plain words, and not in those of a schema (F5)', () => {
  const given = { job: 'x', limit: '101', name: '', state: 'bogus', delivery: 'x', at: '', no: 1 };
  const { error } = schema.safeParse(given, { reportInput: true });
  expect(error?.issues.map((issue) => `${issue.path.join('.')} ${mistakeInWords(issue)}`)).toEqual([
    'owner is missing',
    'job must be a number',
    'limit must be at most 100',
    'name must not be empty',
    'state must be one of waiting, ended',
    'delivery must be a GUID',
    'at must be a day (2026-01-31)',
    ' is unknown: no',
  ]);
});

test.each([
  [z.int().positive(), 0, 'must be more than 0'],
  [z.coerce.number().int().min(1), '0', 'must be at least 1'],
  [z.coerce.number().int(), '1.5', 'must be a whole number'],
  [z.coerce.number().int(), '99999999999999999999', 'must be at most 9007199254740991'],
  [z.string().max(3), 'long', 'must have at most 3 characters'],
  [z.string(), null, 'must be text'],
  [z.boolean(), 'x', 'must be true or false'],
  [z.record(z.string(), z.string()), 7, 'must be an object'],
])('of a value: %#', (one, value, words) => {
  const [issue] = one.safeParse(value, { reportInput: true }).error?.issues ?? [];
  expect(issue && mistakeInWords(issue)).toBe(words);
});
