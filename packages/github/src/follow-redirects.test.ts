import { describe, expect, test } from '@jest/globals';
import { followRedirects } from './follow-redirects.ts';
import { UnusableAnswerError } from './unusable-answer.ts';

const API = 'https://github.example/api/v3/repos/acme/api';

/** A server whose first answer redirects to `location`; records all requests. */
function leadingTo(location: string) {
  const asked: string[] = [];
  const fetch = followRedirects((input) => {
    asked.push(input instanceof Request ? input.url : input.toString());
    return Promise.resolve(
      asked.length === 1
        ? new Response(null, { status: 307, headers: { location } })
        : new Response('{}'),
    );
  });
  return { asked, fetch };
}

describe('a redirect', () => {
  test.each([
    'http://github.example/api/v3/repositories/7',
    'https://github.example:8443/api/v3/repositories/7',
    'https://api.github.example/repositories/7',
    'https://github.example.com/repositories/7',
    'https://github.example@elsewhere.example/',
    '//elsewhere.example/',
    String.raw`\\elsewhere.example\x`,
    'file:///etc/passwd',
    'data:application/json,{}',
  ])('to %s leads to another origin and is not followed', async (location) => {
    const { asked, fetch } = leadingTo(location);
    await expect(fetch(API, { method: 'POST', body: '{}' })).rejects.toThrow(UnusableAnswerError);
    expect(asked).toEqual([API]);
  });

  test.each([
    'https://github.example/api/v3/repositories/7',
    'https://GITHUB.example:443/api/v3/repositories/7',
    '/api/v3/repositories/7',
  ])('to %s leads to the same origin and is followed', async (location) => {
    const { asked, fetch } = leadingTo(location);
    expect((await fetch(API)).status).toBe(200);
    expect(asked).toEqual([API, 'https://github.example/api/v3/repositories/7']);
  });
});
