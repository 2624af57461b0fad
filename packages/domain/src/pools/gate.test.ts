import { describe, expect, test } from '@jest/globals';
import { loginThrough, namesEntities, serves, servesWithPin } from './gate.ts';
import type { Pool } from './pool.ts';
import { poolsDocument } from './pools-document.ts';
import { type GroupAccess, groupExcess, groupToMake, isHeldToItsGroup } from './runner-group.ts';

const POOL = { name: 'a', labels: ['x'], image: 'runner:1', namespace: 'runners' };

const warm = (scope: string) => [{ scope, workers: 1 }];

const problemsOf = (...pools: (Partial<Pool> | { warm: object[] })[]) =>
  poolsDocument
    .safeParse({
      pools: pools.map((more) => Object.assign({}, POOL, more)),
      entities: { acme: {} },
    })
    .error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);

describe('the entities and repositories that a pool serves', () => {
  test.each([
    ['entities', ['acme', 'acme-*', 'id:9007199254740991', 'Team_x'], true],
    ['entities', ['acme/api'], false],
    ['entities', ['id:0'], false],
    ['entities', ['id:acme'], false],
    ['entities', [''], false],
    ['entities', [], false],
    ['repositories', ['acme/*', '*/infra', 'Acme/api.v1_x'], true],
    ['repositories', ['acme'], false],
    ['repositories', ['acme/api/x'], false],
    ['repositories', ['id:1/api'], false],
    ['repositories', [], false],
  ])('%s may be %j: %s', (key, patterns, isTaken) => {
    expect(problemsOf({ [key]: patterns, registration: 'repository' }) === undefined).toBe(isTaken);
  });

  test('repositories need runners that GitHub gives to no others', () => {
    const repositories = ['acme/infra'];
    expect(problemsOf({ repositories })).toEqual([
      expect.stringContaining('pools.0.repositories: GitHub gives any job of an organisation'),
    ]);
    expect(problemsOf({ repositories, registration: 'repository' })).toBeUndefined();
    expect(problemsOf({ repositories, runnerGroup: 'infra' })).toBeUndefined();
    expect(
      problemsOf({ repositories, runnerGroup: 'infra', runnerGroupVisibility: 'selected' }),
    ).toBeUndefined();
    expect(
      problemsOf({ repositories, runnerGroup: 'infra', runnerGroupVisibility: 'all' }),
    ).toEqual([expect.stringContaining('pools.0.runnerGroupVisibility: must be selected')]);
  });

  test('nothing is kept warm for an entity that the pool does not serve (C10)', () => {
    const problem =
      'pools.0.warm.0.scope: is not served by this pool: see its entities and repositories';
    expect(problemsOf({ entities: ['acme'], warm: warm('beta') })).toEqual([problem]);
    expect(problemsOf({ entities: ['acme'], warm: warm('Acme') })).toBeUndefined();
    expect(problemsOf({ entities: ['id:7'], warm: warm('beta') })).toBeUndefined();
    expect(problemsOf({ entities: ['acme', 'id:7'], warm: warm('beta') })).toBeUndefined();
    expect(
      problemsOf({ repositories: ['acme/infra'], registration: 'repository', warm: warm('acme') }),
    ).toBeDefined();
    expect(
      problemsOf({ repositories: ['acme/infra'], runnerGroup: 'infra', warm: warm('acme') }),
    ).toBeUndefined();
    expect(
      problemsOf({
        repositories: ['acme/infra'],
        registration: 'repository',
        warm: warm('acme/api'),
      }),
    ).toEqual([problem]);
  });

  test('two pools may have the same labels if they serve others', () => {
    const twin = { name: 'b', entities: ['acme'] };
    expect(problemsOf({}, twin)).toBeUndefined();
    expect(problemsOf({ entities: ['beta'] }, twin)).toBeUndefined();
    expect(problemsOf({ entities: ['ab', 'c'] }, { name: 'b', entities: ['a', 'bc'] })).toBe(
      undefined,
    );
    expect(problemsOf({ entities: ['ACME'] }, twin)).toEqual([
      'pools.1.labels: pool a has the same labels: GitHub could not tell the two apart',
    ]);
    expect(problemsOf({}, twin, { name: 'c' })).toEqual([
      expect.stringContaining('pools.2.labels: pool a has the same labels'),
    ]);
  });
});

const ACME = { id: 7, login: 'Acme' };

describe('whom a gate lets through', () => {
  test.each([
    ['nothing', {}, true],
    ['the login, in any case', { entities: ['aCME'] }, true],
    ['the id', { entities: ['beta', 'id:7'] }, true],
    ['another id', { entities: ['id:77'] }, false],
    ['another login', { entities: ['beta'] }, false],
    ['a pattern', { entities: ['ac*'] }, true],
    ['the repository', { repositories: ['acme/api'] }, true],
    ['another repository', { repositories: ['acme/web'] }, false],
    ['the repository of others', { repositories: ['beta/api', '*/api'] }, true],
    [
      'the entity, but another repository',
      { entities: ['acme'], repositories: ['acme/web'] },
      false,
    ],
    [
      'the repository, but another entity',
      { entities: ['beta'], repositories: ['acme/api'] },
      false,
    ],
  ])('one that names %s', (_, gate, isServed) => {
    expect(serves(gate, { entity: ACME, repoFullName: 'Acme/api' })).toBe(isServed);
  });

  test.each([
    ['nothing', {}, undefined, false],
    ['the login', { entities: ['Acme'] }, 'acme', true],
    ['the login of a repository', { repositories: ['ACME/api'] }, 'acme', true],
    ['the login and the id', { entities: ['acme', 'id:7'] }, undefined, true],
    ['a pattern that fits', { entities: ['acm*'] }, undefined, false],
    ['the login and a pattern', { entities: ['acme', 'b*'] }, 'acme', false],
    ['repositories of the login and of any', { repositories: ['acme/*', '*/api'] }, 'acme', false],
    [
      'a pattern, and entities by repositories',
      { entities: ['acm*'], repositories: ['acme/*'] },
      'acme',
      true,
    ],
    ['repositories of any entity', { repositories: ['*/api'] }, undefined, false],
    ['repositories by a pattern that fits', { repositories: ['acm*/api'] }, undefined, false],
  ])('a gate with %s', (_, gate, login, named) => {
    expect(loginThrough(gate, ACME)).toBe(login);
    expect(namesEntities(gate)).toBe(named);
  });

  test.each([
    ['by its login, which no entity has', { entities: ['acme'] }, undefined, true],
    ['by its login, which is its own', { entities: ['acme'] }, 7, true],
    ['by its login, which is another’s', { entities: ['acme'] }, 8, false],
    ['by its id, even if another entity has the login', { entities: ['acme', 'id:7'] }, 8, true],
    ['by a pattern, even if another entity has the login', { entities: ['*'] }, 8, true],
    ['not at all', { entities: ['beta'] }, undefined, false],
  ])('an entity that a gate names %s', (_, gate, owner, isServed) => {
    expect(servesWithPin(gate, ACME, owner)).toBe(isServed);
  });
});

const GROUPED = { ...POOL, runnerGroup: 'team' };
const CLOSED: GroupAccess = {
  visibility: 'selected',
  allowsPublicRepositories: false,
  workflows: null,
  repositories: ['acme/api'],
};
const FOR_API = { repositories: ['acme/api'] };

function poolOf(more: object): Pool {
  const [pool] = poolsDocument.parse({ pools: [{ ...GROUPED, ...more }], entities: {} }).pools;
  if (pool === undefined) throw new Error('There has to be a pool.');
  return pool;
}

const judge = (more: object, access: GroupAccess | undefined) => ({
  excess: groupExcess(poolOf(more), access),
  isHeld: isHeldToItsGroup(poolOf(more)),
});

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
  expect(groupToMake(poolOf(more))).toEqual({ name: 'team', ...group });
});
