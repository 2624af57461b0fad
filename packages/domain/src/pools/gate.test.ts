import { describe, expect, test } from '@jest/globals';
import { loginThrough, namesEntities, overlap, serves, servesWithPin } from './gate.ts';
import type { Pool } from './pool.ts';
import { poolsDocument } from './pools-document.ts';

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

  test.each([
    ['nothing is said', {}, { entities: ['acme'] }, true],
    ['nothing is common', { entities: ['acme'] }, { entities: ['beta', 'gamma'] }, false],
    ['one entity is common', { entities: ['acme', 'beta'] }, { entities: ['gamma', 'BETA'] }, true],
    ['a pattern of one fits', { entities: ['ac*'] }, { entities: ['acme'] }, true],
    ['a pattern of the other fits', { entities: ['acme'] }, { entities: ['ac*'] }, true],
    [
      'entities are common, but no repository',
      { entities: ['acme'], repositories: ['acme/a'] },
      { repositories: ['acme/b'] },
      false,
    ],
    [
      'repositories are common, but no entity',
      { entities: ['a'], repositories: ['*/a'] },
      { entities: ['b'], repositories: ['*/a'] },
      false,
    ],
  ])('two gates overlap where %s', (_, one, other, isOverlap) => {
    expect(overlap(one, other)).toBe(isOverlap);
    expect(overlap(other, one)).toBe(isOverlap);
  });
});
