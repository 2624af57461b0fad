import { describe, expect, test } from '@jest/globals';
import { classifyKubeError, KubeError, kindOf, readStatus } from './errors.ts';

describe('kindOf', () => {
  test.each([
    [404, 'NotFound', 'not_found'],
    [409, 'AlreadyExists', 'exists'],
    [409, 'Conflict', 'conflict'],
    [409, undefined, 'conflict'],
    [403, 'Forbidden', 'forbidden'],
    [410, 'Expired', 'gone'],
    [410, undefined, 'gone'],
    [422, 'Invalid', 'invalid'],
    [400, 'BadRequest', 'invalid'],
    [415, undefined, 'invalid'],
    [429, 'TooManyRequests', 'too_many_requests'],
    [401, 'Unauthorized', 'unauthorized'],
    [500, 'InternalError', 'unavailable'],
    [500, 'ServerTimeout', 'unavailable'],
    [503, undefined, 'unavailable'],
    [504, 'Timeout', 'timeout'],
    [504, undefined, 'timeout'],
    [502, 'SomethingNew', 'unavailable'],
    [302, undefined, 'unknown'],
  ])('status %s with reason %s is %s', (status, reason, kind) => {
    expect(kindOf(status, reason)).toBe(kind);
  });
});

describe('classifyKubeError', () => {
  test('a failure of a call comes back as it was', () => {
    const failure = { kind: 'gone' as const, status: 410, message: 'too old' };
    expect(classifyKubeError(new KubeError(failure))).toBe(failure);
  });

  test('any other error is unknown, with any text', () => {
    expect(classifyKubeError(new Error('pods "x" not found'))).toEqual({
      kind: 'unknown',
      message: 'pods "x" not found',
    });
    expect(classifyKubeError('text')).toEqual({ kind: 'unknown', message: 'text' });
  });
});

describe('readStatus', () => {
  test('only a Status object gives a reason', () => {
    const status = {
      kind: 'Status',
      code: 429,
      reason: 'TooManyRequests',
      message: 'm',
      details: { retryAfterSeconds: 2 },
    };
    expect(readStatus(status)).toEqual({
      code: 429,
      reason: 'TooManyRequests',
      message: 'm',
      retryAfterSeconds: 2,
    });
    for (const other of [
      undefined,
      null,
      'text',
      [],
      { kind: 'Pod', code: 1 },
      { kind: 'Status', code: 'x', details: 3 },
    ]) {
      expect(readStatus(other)).toEqual({});
    }
  });
});
