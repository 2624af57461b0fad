import { describe, expect, test } from '@jest/globals';
import { loginThrough, namesEntities, serves, servesWithPin } from './gate.ts';
import { parsedPool, problemsOf } from '../scenes/pools-document.scene.ts';
import { type GroupAccess, groupExcess, groupToMake, isHeldToItsGroup } from './runner-group.ts';

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
    const problems = problemsOf([{ [key]: patterns, registration: 'repository' }]);
    expect(problems.length === 0).toBe(isTaken);
  });

  const twin = { name: 'b', entities: ['acme'] };
  const alike = 'pool a has the same labels: GitHub could not tell the two apart';
  test.each([
    [[{}, twin], []],
    [[{ entities: ['beta'] }, twin], []],
    [[{ entities: ['ab', 'c'] }, { name: 'b', entities: ['a', 'bc'] }], []],
    [[{ entities: ['ACME'] }, twin], [`pools.1.labels: ${alike}`]],
    [[{}, twin, { name: 'c' }], [`pools.2.labels: ${alike}`]],
  ])('two pools may have the same labels if they serve others: %j', (pools, problems) => {
    expect(problemsOf(pools)).toEqual(problems);
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
    ['another repository of it', { entities: ['acme'], repositories: ['acme/web'] }, false],
    ['it, of another entity', { entities: ['beta'], repositories: ['acme/api'] }, false],
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
    ['a pattern and the login', { entities: ['acm*'], repositories: ['acme/*'] }, 'acme', true],
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

const poolOf = (more: object) => parsedPool({ runnerGroup: 'team', ...more });
const CLOSED: GroupAccess = {
  visibility: 'selected',
  allowsPublicRepositories: false,
  workflows: null,
  repositories: ['acme/api'],
};
const FOR_API = { repositories: ['acme/api'] };
const DIND = { containerMode: 'dind' };

const excessOf = (more: object, access?: Partial<GroupAccess>) =>
  groupExcess(poolOf(more), access && { ...CLOSED, ...access });

describe('the jobs that a runner group lets in beyond its pool’s', () => {
  test('is nothing where GitHub shows that it is closed', () => {
    for (const more of [{}, FOR_API, DIND]) expect(excessOf(more, {})).toBeUndefined();
  });

  test('is unknown where GitHub does not show its repositories: a pool that names some is held', () => {
    expect(excessOf(FOR_API, { repositories: null })).toBe(
      'The runner group team lets in selected repositories that GitHub does not show us',
    );
    expect(isHeldToItsGroup(poolOf(FOR_API))).toBe(true);
    for (const more of [{}, DIND]) expect(excessOf(more, { repositories: null })).toBeUndefined();
  });

  const OPEN = { visibility: 'all', repositories: null } as const;
  const [PUBLIC, THREE] = [{ allowsPublicRepositories: true }, ['acme/a', 'acme/b', 'acme/c']];
  test.each<[string, object, Partial<GroupAccess>]>([
    ['public repositories', {}, { ...PUBLIC, visibility: 'all' }],
    // Only private ones may use it, and the pool serves public ones.
    ['', {}, { ...PUBLIC, visibility: 'private' }],
    ['', { publicRepositories: true }, PUBLIC],
    ['repositories that are not selected', FOR_API, OPEN],
    ['', {}, OPEN],
    [
      'repositories that the pool does not serve (acme/web)',
      FOR_API,
      { repositories: ['acme/api', 'acme/web'] },
    ],
    [
      'repositories that the pool does not serve (acme/a, acme/b, acme/c and 2 more)',
      FOR_API,
      { repositories: [...THREE, 'acme/d', 'acme/e'] },
    ],
    [
      'public repositories, and repositories that the pool does not serve (acme/a, acme/b, acme/c)',
      FOR_API,
      { ...PUBLIC, repositories: THREE },
    ],
  ])('are “%s” of %j under %j', (excess, more, access) => {
    const sentence = excess === '' ? undefined : `The runner group team lets in ${excess}`;
    expect(excessOf(more, access)).toBe(sentence);
  });

  test.each([
    ['lets in public repositories', PUBLIC],
    ['is not granted', undefined],
  ])('where the group %s, says how to have it nevertheless, if that helps', (_what, access) => {
    const wayOut = /; write allowUntrusted: true in the pool if that is meant$/;
    expect(excessOf(DIND, access)).toMatch(wayOut);
    expect(excessOf({ entities: ['acme'] }, access)).toMatch(wayOut);
    for (const more of [{}, FOR_API, { ...DIND, allowUntrusted: true }])
      expect(excessOf(more, access)).not.toMatch(wayOut);
  });
});

test.each<[string, object, string, boolean]>([
  ['serves any repository', {}, 'all', false],
  ['names repositories', FOR_API, 'selected', false],
  ['says who sees it', { runnerGroupVisibility: 'private' }, 'private', false],
  ['admits public repositories', { publicRepositories: true }, 'all', true],
])('the runner group of a pool that %s', (_, more, visibility, allowsPublicRepositories) => {
  const group = { name: 'team', visibility, allowsPublicRepositories };
  expect(groupToMake(poolOf(more))).toEqual(group);
});
