import { describe, expect, test } from '@jest/globals';
import { bodyDigest } from './body-digest.ts';

const digest = (body: Buffer | string, { appId = 1, event = 'workflow_job' } = {}): string =>
  bodyDigest({ appId, event }, body);

describe('the digest of a body', () => {
  test('is the same for the same bytes, and fits into a UUID', () => {
    expect(digest('{"a":1}')).toBe(digest(Buffer.from('{"a":1}')));
    expect(digest('{}')).toMatch(/^[0-9a-f]{32}$/);
  });

  test('differs for each body, App and event that is handled', () => {
    const digests = [
      digest('{}'),
      digest('{ }'),
      digest('{}', { appId: 2 }),
      digest('{}', { event: 'installation' }),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  test('is the same under all names of events that are not handled, which anyone can make up', () => {
    expect(digest('{}', { event: 'push' })).toBe(digest('{}', { event: 'made-up' }));
    expect(digest('{}', { event: 'push' })).not.toBe(digest('{}'));
  });

  test('lets no App speak with the number and body of another', () => {
    expect(digest('other\nx', { event: 'push' })).not.toBe(digest('x', { event: 'push' }));
  });
});
