import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { WAIT_REASONS } from './wait-reasons.ts';

test('every reason is explained to operators, and no former one (P5)', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/matching.md'), 'utf8');
  const explained = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, reason]) => reason);
  expect(new Set(explained)).toEqual(new Set(Object.keys(WAIT_REASONS)));
});
