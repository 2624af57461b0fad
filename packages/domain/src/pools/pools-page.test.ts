import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { keysOfPools } from './pool.ts';

test('docs/pools.md names every key of a pool once, and no other (H6)', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/pools.md'), 'utf8');
  const keys = page.slice(page.indexOf('## Keys'), page.indexOf('## Template'));
  const named = Array.from(keys.matchAll(/^\| `(\w+)`/gm), ([, key = '']) => key);
  expect(named.toSorted()).toEqual(keysOfPools.toSorted());
});
