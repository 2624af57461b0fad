import { describe, expect, test } from '@jest/globals';
import { type Pool, poolsDocument } from './pools-document.ts';

const POOL = { name: 'a', labels: ['x'], image: 'runner:1', namespace: 'runners' };

const warm = (scope: string) => [{ scope, workers: 1 }];

const problemsOf = (...pools: (Partial<Pool> | { warm: object[] })[]) =>
  poolsDocument
    .safeParse({ pools: pools.map((more) => Object.assign({}, POOL, more)), entities: { acme: {} } })
    .error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);

describe('the accounts and repositories that a pool serves', () => {
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
    expect(problemsOf({ repositories, runnerGroup: 'infra', runnerGroupVisibility: 'selected' })).toBeUndefined();
    expect(problemsOf({ repositories, runnerGroup: 'infra', runnerGroupVisibility: 'all' })).toEqual([
      expect.stringContaining('pools.0.runnerGroupVisibility: must be selected'),
    ]);
  });

  test('nothing is kept warm for an account that the pool does not serve (C10)', () => {
    const problem = 'pools.0.warm.0.scope: is not served by this pool: see its entities and repositories';
    expect(problemsOf({ entities: ['acme'], warm: warm('beta') })).toEqual([problem]);
    expect(problemsOf({ entities: ['acme'], warm: warm('Acme') })).toBeUndefined();
    expect(problemsOf({ entities: ['id:7'], warm: warm('beta') })).toBeUndefined();
    expect(problemsOf({ repositories: ['acme/infra'], registration: 'repository', warm: warm('acme/api') })).toEqual([problem]);
  });

  test('two pools may have the same labels if they serve others', () => {
    const twin = { name: 'b', entities: ['acme'] };
    expect(problemsOf({}, twin)).toBeUndefined();
    expect(problemsOf({ entities: ['beta'] }, twin)).toBeUndefined();
    expect(problemsOf({ entities: ['ACME'] }, twin)).toEqual([
      'pools.1.labels: pool a has the same labels: GitHub could not tell the two apart',
    ]);
    expect(problemsOf({}, twin, { name: 'c' })).toEqual([expect.stringContaining('pools.2.labels: pool a has the same labels')]);
  });
});
