import { describe, expect, test } from '@jest/globals';
import { type Endpoint, endpoint } from '@paddock/api/endpoint';
import { z } from 'zod';
import { createFindEndpoint } from './find-endpoint.ts';

const at = (method: Endpoint['method'], path: Endpoint['path']): Endpoint =>
  endpoint({
    name: `${method} ${path}`,
    method,
    path,
    summary: 'An example.',
    access: 'read',
    status: 200,
    input: z.object({}),
    output: z.null(),
    answer: () => Promise.resolve(null),
  });

const find = createFindEndpoint([
  at('GET', '/api/v1/jobs/{job}'),
  at('DELETE', '/api/v1/jobs/{job}'),
  at('GET', '/api/v1/jobs/counts'),
  at('GET', '/api/v1/jobs'),
  at('POST', '/api/v1/jobs/{job}/pods/{pod}'),
]);
const found = (method: string, path: string) => {
  const result = find(method, path);
  return 'endpoint' in result ? [result.endpoint.name, result.path] : result.methods;
};

describe('an endpoint', () => {
  test.each([
    ['GET', '/api/v1/jobs', {}],
    ['GET', '/api/v1/jobs/counts', {}],
    ['GET', '/api/v1/jobs/{job}', { job: '7' }],
    ['DELETE', '/api/v1/jobs/{job}', { job: '7' }],
    ['POST', '/api/v1/jobs/{job}/pods/{pod}', { job: '7', pod: 'a' }],
  ])('%s %s is found with its fields', (method, path, fields) => {
    const filled = path.replace('{job}', '7').replace('{pod}', 'a');
    expect(found(method, filled)).toEqual([`${method} ${path}`, fields]);
  });

  test('answers HEAD as GET', () => {
    expect(found('HEAD', '/api/v1/jobs')).toEqual(['GET /api/v1/jobs', {}]);
  });

  test('gets a field’s value decoded, once and with its slashes', () => {
    expect(found('GET', '/api/v1/jobs/a%2Fb%20%2525')).toEqual([
      'GET /api/v1/jobs/{job}',
      { job: 'a/b %25' },
    ]);
  });

  test.each([
    '',
    '/',
    '/api/v1',
    '/api/v1/jobs/',
    '/api/v1//jobs',
    '/api/v1/jobs/7/',
    '/api/v1/jobs/%',
    '/api/v1/jobs/7/../7',
    '/API/v1/jobs',
    '/api/v1/jobs/{job}/x',
    'http://localhost/api/v1/jobs',
    '*',
  ])('is not at "%s"', (path) => {
    expect(found('GET', path)).toEqual([]);
  });

  test('of another method is not called: the methods there are named', () => {
    expect(found('PATCH', '/api/v1/jobs/7')).toEqual(['GET', 'DELETE']);
    expect(found('get', '/api/v1/jobs')).toEqual(['GET']);
    expect(found('__proto__', '/api/v1/jobs')).toEqual(['GET']);
  });
});
