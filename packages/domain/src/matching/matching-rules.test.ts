import { expect, test } from '@jest/globals';
import { blockedBy } from './matching-rules.ts';
import { rulesWith } from './matching-rules.scene.ts';

const acme = { entityId: 1, login: 'acme', pool: 'linux' };

test.each([
  ['anybody', {}, acme, undefined],
  ['the account, by its login', { entities: ['ACME'] }, acme, undefined],
  ['the account, by its id', { entities: ['id:1'] }, acme, undefined],
  ['another account', { entities: ['beta'] }, acme, 'pool_closed'],
  ['the repository', { repositories: ['acme/infra'] }, { ...acme, repoFullName: 'acme/infra' }, undefined],
  ['another repository', { repositories: ['acme/infra'] }, { ...acme, repoFullName: 'acme/api' }, 'pool_closed'],
  // Its runner group decides there.
  ['some repositories of an organisation', { repositories: ['acme/infra'] }, { ...acme, repoFullName: null }, undefined],
])('a pool that serves %s (C4)', (_whom, pool, place, expected) => {
  expect(blockedBy(rulesWith({ pool }), place)).toBe(expected);
});

test.each([
  ['by its login', { entities: ['ACME'] }, 'pool_closed'],
  ['by its login in the name of a repository', { repositories: ['acme/infra'] }, 'pool_closed'],
  ['by its id', { entities: ['acme', 'id:1'] }, undefined],
  ['as anybody', {}, undefined],
])('an account under a login that is another one’s: a pool that serves it %s (C4)', (_how, pool, expected) => {
  const entities = new Map([['*', { cap: null, weight: 1 }]]);
  expect(blockedBy(rulesWith({ pool, entities, pins: new Map([['acme', 2]]) }), acme)).toBe(expected);
  expect(blockedBy(rulesWith({ pool, entities, pins: new Map([['acme', 1]]) }), acme)).toBeUndefined();
});
