import { describe, expect, test } from '@jest/globals';
import { placeJob } from './place-job.ts';
import { poolsDocument } from './pools-document.ts';

const document = poolsDocument.parse({
  pools: [
    { name: 'small', labels: ['linux', 'x64'], image: 'runner:1', namespace: 'runners' },
    { name: 'open', labels: ['open'], image: 'runner:2', namespace: 'runners', publicRepositories: true, registration: 'repository' },
  ],
  entities: { Acme: {} },
});
const job = {
  account: { id: 1, login: 'acme', type: 'Organization' },
  labels: ['linux'],
  isPublic: false,
  repoId: 9,
} as const;

describe('placeJob', () => {
  test('finds the pool, its image and the scope (B4, C2)', () => {
    expect(placeJob(document, job)).toEqual({ pool: 'small', image: 'runner:1', scopeRepoId: 0 });
    expect(placeJob(document, { ...job, account: { ...job.account, type: 'User' } })).toMatchObject({ scopeRepoId: 9 });
    expect(placeJob(document, { ...job, labels: ['open'] })).toMatchObject({ pool: 'open', scopeRepoId: 9 });
  });

  test('says why there is none: the account, the labels, the public repository (B4)', () => {
    expect(placeJob(document, { ...job, account: { ...job.account, login: 'other' } })).toEqual({ ignored: 'ignored_entity' });
    expect(placeJob(document, { ...job, labels: ['windows'] })).toEqual({ ignored: 'ignored_no_label' });
    expect(placeJob(document, { ...job, labels: [] })).toEqual({ ignored: 'ignored_no_label' });
    expect(placeJob(document, { ...job, isPublic: true })).toEqual({ ignored: 'ignored_public_repository' });
    expect(placeJob(document, { ...job, labels: ['open'], isPublic: true })).toMatchObject({ pool: 'open' });
  });
});
