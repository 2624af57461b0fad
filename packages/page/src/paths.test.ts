import { describe, expect, test } from '@jest/globals';
import { findPath } from './paths.ts';

describe('a path of the page', () => {
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
});
