import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import type { Logger } from './logger.ts';
import { readRules, valuesOf, warnOfRules } from './rules.ts';

const db = { tickMs: { value: 15_000, min: 10, max: 600_000 } };
const queue = { pollMs: { value: 5_000, min: 0, max: 9_000 } };

function read(environment: Record<string, string>) {
  const problems: string[] = [];
  return { values: readRules({ db, queue }, environment, problems), problems };
}

const folder = mkdtempSync(join(tmpdir(), 'paddock-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('rules (H6)', () => {
  test.each([{}, { PADDOCK_RULES: '' }])('are those of the code: %j', (environment) => {
    const values = { tickMs: 15_000, pollMs: 5_000 };
    expect(read(environment)).toEqual({ values, problems: [] });
    expect({ ...valuesOf(db), ...valuesOf(queue) }).toEqual(values);
  });

  test('are changed by the variable, which may have sections of other services too', () => {
    const PADDOCK_RULES = '{"db": {"tickMs": 20}, "scheduler": {"unknownHere": 1}}';
    expect(read({ PADDOCK_RULES })).toEqual({
      values: { tickMs: 20, pollMs: 5_000 },
      problems: [],
    });
  });

  test('are changed by the file that the variable names', () => {
    const path = join(folder, 'rules.json');
    writeFileSync(path, '{"queue": {"pollMs": 0}}');
    expect(read({ PADDOCK_RULES: `@${path}` }).values.pollMs).toBe(0);
    expect(read({ PADDOCK_RULES: '@/nowhere.json' }).problems).toEqual([
      expect.stringContaining('/nowhere.json cannot be read'),
    ]);
  });

  test.each([
    ['{"db": {"tickms": 20}}', 'db: there is no key `tickms` here; did you mean `tickMs`?'],
    ['{"dbs": {}}', 'there is no key `dbs` here; did you mean `db`?'],
    ['{"db": {"tickMs": 9}}', 'db.tickMs: must be at least 10'],
    ['[]', 'must be a mapping'],
    ['{', 'line 1'],
  ])('refuse %s', (PADDOCK_RULES, problem) => {
    expect(read({ PADDOCK_RULES }).problems.join()).toContain(`PADDOCK_RULES: ${problem}`);
  });

  test('of a test are told in one warning', () => {
    const warn = jest.fn<(message: string, fields: object) => void>();
    const log = { warn } as unknown as Logger;
    warnOfRules({}, log);
    expect(warn).not.toHaveBeenCalled();
    warnOfRules({ PADDOCK_RULES: '{}' }, log);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('PADDOCK_RULES'), { rules: '{}' });
  });
});
