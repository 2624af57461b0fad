import { expect, test } from '@jest/globals';
import { groupToMake } from './group-to-make.ts';
import type { Pool } from './pool.ts';
import { poolsDocument } from './pools-document.ts';

const poolOf = (more: Partial<Pool>): Pool => {
  const [pool] = poolsDocument.parse({
    pools: [
      {
        name: 'a',
        labels: ['x'],
        image: 'runner:1',
        namespace: 'runners',
        runnerGroup: 'infra',
        ...more,
      },
    ],
    entities: { acme: {} },
  }).pools;
  if (pool === undefined) throw new Error('no pool');
  return pool;
};

test.each([
  ['serves any repository', {}, { visibility: 'all', allowsPublicRepositories: false }],
  [
    'names repositories',
    { repositories: ['acme/api'] },
    { visibility: 'selected', allowsPublicRepositories: false },
  ],
  [
    'says who sees it',
    { runnerGroupVisibility: 'private' },
    { visibility: 'private', allowsPublicRepositories: false },
  ],
  [
    'admits public repositories',
    { publicRepositories: true },
    { visibility: 'all', allowsPublicRepositories: true },
  ],
] as const)('the runner group of a pool that %s', (_, more, group) => {
  expect(groupToMake(poolOf(more as Partial<Pool>))).toEqual({ name: 'infra', ...group });
});
