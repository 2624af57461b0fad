import { expect, test } from '@jest/globals';
import { at, findPath, placeOf } from './paths.ts';

test.each([
  ['/', { path: '/', fields: {} }],
  ['/jobs', { path: '/jobs', fields: {} }],
  ['/jobs/7', { path: '/jobs/{job}', fields: { job: '7' } }],
  ['/workers/a%20b%2Fc', { path: '/workers/{worker}', fields: { worker: 'a b/c' } }],
  ['/workers/100%', { path: '/workers/{worker}', fields: { worker: '100%' } }],
  ['/jobs/', undefined],
  ['/jobs/7/8', undefined],
  ['/nothing', undefined],
  ['', undefined],
])('%s leads to %j', (path, found) => {
  expect(findPath(path)).toEqual(found);
});

test.each([
  [{ kind: 'run', id: '9', name: 'acme' }, '/runs/9?owner=acme'],
  [{ kind: 'repository', id: '5', name: 'acme/a?b' }, '/repositories/acme/a%3Fb'],
  // Else its address would be that of the answer about acme/a.
  [{ kind: 'repository', id: '5', name: 'acme/a.json' }, '/repositories/acme/a%2Ejson'],
  [{ kind: 'entity', id: 1 }, '/trace/entity/1'],
  [{ kind: 'event', id: '7' }, '/trace/payload/7'],
  [{ kind: 'delivery', id: '0b98' }, '/deliveries/0b98'],
  [{ kind: 'worker', id: 'pdk-1' }, '/workers/pdk-1'],
  [{ kind: 'installation', id: 70 }, '/installations/70'],
  [{ kind: 'node', id: 'a.b' }, '/workers?node=a.b'],
] as const)('%j is at %s', (thing, path) => {
  expect([placeOf(thing), findPath(path.split('?')[0] ?? '')]).toEqual([path, expect.anything()]);
});

test('a path has its values encoded', () => {
  expect(at`/switches/${'discover-jobs:acme/a b'}`).toBe('/switches/discover-jobs%3Aacme%2Fa%20b');
});
