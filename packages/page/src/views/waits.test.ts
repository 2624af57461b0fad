import { expect, test } from '@jest/globals';
import { isWaiting, reasonPath, waitsPath } from './jobs.ts';

const query = new URLSearchParams('state=waiting&pool=gpu&reason=no_capacity&after=x');

test('counts by reason are of the jobs that the other filters mean, and lead to their lists', () => {
  expect(waitsPath(query)).toBe('/waits?pool=gpu');
  expect(reasonPath(query, 'at_pool_cap')).toBe('/jobs?pool=gpu&state=waiting&reason=at_pool_cap');
  expect(reasonPath(query, undefined)).toBe('/jobs?pool=gpu&state=waiting');
});

test.each([
  ['state=waiting', true],
  ['reason=none', true],
  ['state=running&reason=none', false],
  ['', false],
])('the list at %s has counts by reason: %s', (given, has) => {
  expect(isWaiting(new URLSearchParams(given))).toBe(has);
});
