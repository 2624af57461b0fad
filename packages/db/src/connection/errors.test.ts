import { describe, expect, test } from '@jest/globals';
import { isBadData, isConflict, isUnavailable, isUniqueViolation, sqlStateOf } from './errors.ts';

const raised = (code: string) => Object.assign(new Error('any text'), { code });

describe('errors are classified by SQLSTATE, never by their text', () => {
  test.each([
    ['40001', { conflict: true, unique: false, data: false, unavailable: false }],
    ['40P01', { conflict: true, unique: false, data: false, unavailable: false }],
    ['23505', { conflict: false, unique: true, data: true, unavailable: false }],
    ['22P02', { conflict: false, unique: false, data: true, unavailable: false }],
    ['42501', { conflict: false, unique: false, data: false, unavailable: false }],
    ['57P01', { conflict: false, unique: false, data: false, unavailable: true }],
    ['53300', { conflict: false, unique: false, data: false, unavailable: true }],
    ['55P03', { conflict: false, unique: false, data: false, unavailable: true }],
    ['25006', { conflict: false, unique: false, data: false, unavailable: true }],
    ['ECONNREFUSED', { conflict: false, unique: false, data: false, unavailable: true }],
    ['EPIPE', { conflict: false, unique: false, data: false, unavailable: true }],
  ])('%s', (code, expected) => {
    const error = raised(code);
    expect({
      conflict: isConflict(error),
      unique: isUniqueViolation(error),
      data: isBadData(error),
      unavailable: isUnavailable(error),
    }).toEqual(expected);
  });

  test('an error that is no SQLSTATE has none', () => {
    for (const error of [raised('EPIPE'), new Error('40001'), undefined, null, '40001'])
      expect(sqlStateOf(error)).toBeUndefined();
  });
});
