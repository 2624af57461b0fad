import { describe, expect, test } from '@jest/globals';
import { type GroupAccess, groupExcess, isHeldToItsGroup } from './group-excess.ts';
import { poolsDocument } from './pools-document.ts';

const POOL = {
  name: 'a',
  labels: ['x'],
  image: 'runner:1',
  namespace: 'runners',
  runnerGroup: 'team',
};
const CLOSED: GroupAccess = {
  visibility: 'selected',
  allowsPublicRepositories: false,
  workflows: null,
  repositories: ['acme/api'],
};
const FOR_API = { repositories: ['acme/api'] };

function judge(more: object, access: GroupAccess | undefined) {
  const [pool] = poolsDocument.parse({ pools: [{ ...POOL, ...more }], entities: {} }).pools;
  if (pool === undefined) throw new Error('There has to be a pool.');
  return { excess: groupExcess(pool, access), isHeld: isHeldToItsGroup(pool) };
}

describe('the jobs that a runner group lets in beyond its pool’s', () => {
  test('is nothing where GitHub shows that it is closed', () => {
    for (const more of [{}, FOR_API, { containerMode: 'dind' }])
      expect(judge(more, CLOSED).excess).toBeUndefined();
  });

  test('is unknown where GitHub does not show its repositories: a pool that names some is held', () => {
    const unknown = { ...CLOSED, repositories: null };
    expect(judge(FOR_API, unknown)).toEqual({
      excess: 'The runner group team lets in selected repositories that GitHub does not show us',
      isHeld: true,
    });
    for (const more of [{}, { containerMode: 'dind' }])
      expect(judge(more, unknown).excess).toBeUndefined();
  });

  test.each([
    [
      'public repositories',
      {},
      { ...CLOSED, visibility: 'all', allowsPublicRepositories: true },
      'public repositories',
    ],
    [
      'none, if only private ones may use it',
      {},
      { ...CLOSED, visibility: 'private', allowsPublicRepositories: true },
      undefined,
    ],
    [
      'none that the pool does not serve',
      { publicRepositories: true },
      { ...CLOSED, allowsPublicRepositories: true },
      undefined,
    ],
    [
      'any, though the pool names some',
      FOR_API,
      { ...CLOSED, visibility: 'all', repositories: null },
      'repositories that are not selected',
    ],
    [
      'any, and the pool names none',
      {},
      { ...CLOSED, visibility: 'all', repositories: null },
      undefined,
    ],
    [
      'others than those that the pool names',
      FOR_API,
      { ...CLOSED, repositories: ['acme/api', 'acme/web'] },
      'repositories that the pool does not serve (acme/web)',
    ],
    [
      'more than are worth naming',
      FOR_API,
      { ...CLOSED, repositories: ['acme/a', 'acme/b', 'acme/c', 'acme/d', 'acme/e'] },
      'repositories that the pool does not serve (acme/a, acme/b, acme/c and 2 more)',
    ],
    [
      'as many as are worth naming, and public ones',
      FOR_API,
      { ...CLOSED, allowsPublicRepositories: true, repositories: ['acme/a', 'acme/b', 'acme/c'] },
      'public repositories, and repositories that the pool does not serve (acme/a, acme/b, acme/c)',
    ],
  ] as const)('is %s', (_what, more, access, excess) => {
    expect(judge(more, access).excess).toBe(excess && `The runner group team lets in ${excess}`);
  });

  test.each([
    ['lets in public repositories', { ...CLOSED, allowsPublicRepositories: true }],
    ['is not granted', undefined],
  ])('where the group %s, says how to have it nevertheless, if that helps', (_what, access) => {
    const wayOut = /; write allowUntrusted: true in the pool if that is meant$/;
    expect(judge({ containerMode: 'dind' }, access).excess).toMatch(wayOut);
    expect(judge({ entities: ['acme'] }, access).excess).toMatch(wayOut);
    for (const more of [{}, FOR_API, { containerMode: 'dind', allowUntrusted: true }])
      expect(judge(more, access).excess).not.toMatch(wayOut);
  });
});
