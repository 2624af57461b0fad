import { describe, expect, test } from '@jest/globals';
import { ago, between, duration, instant } from './durations.ts';
import { findPlace } from './find.ts';
import { count, number, plain } from './words.ts';

describe('a length of time', () => {
  test.each([
    [-5_000, '0 s'],
    [0, '0 s'],
    [400, '< 1 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [200_000, '3 min 20 s'],
    [3_600_000, '1 h'],
    [3_660_000, '1 h 1 min'],
    [90_000_000, '1 d 1 h'],
  ])('%d ms is %s, never negative', (ms, said) => {
    expect(duration(ms)).toBe(said);
  });

  test.each([
    ['2026-01-31T09:00:00Z', '1 min ago'],
    ['2026-01-31T09:01:00Z', 'now'],
    ['2026-01-31T09:01:03Z', 'now'],
    ['2026-01-31T09:02:00Z', 'in 1 min'],
  ])('%s is %s', (at, said) => {
    expect(ago(at, Date.parse('2026-01-31T09:01:00Z'))).toBe(said);
  });

  test('between instants of two clocks is not negative', () => {
    expect(between('2026-01-31T09:00:05Z', '2026-01-31T09:00:00Z', 0)).toBe('0 s');
    expect(between('2026-01-31T09:00:00Z', null, Date.parse('2026-01-31T09:00:07Z'))).toBe('7 s');
    expect(instant('2026-01-31T09:00:05.678Z')).toBe('2026-01-31 09:00:05');
  });
});

describe('what a person has at hand', () => {
  test.each([
    [' 34500000001 ', '/jobs/34500000001'],
    ['https://github.com/acme/api/actions/runs/9/job/34500000001', '/jobs/34500000001'],
    ['https://ghe.example/acme/api/actions/runs/92?pr=1', '/runs/92?owner=acme'],
    ['acme/api', '/jobs?repository=acme%2Fapi'],
    ['pdk-a1b2c3-linux-0001', '/workers/pdk-a1b2c3-linux-0001'],
    ['6f9619ff-8b86-4d11-b42d-00c04fc964ff', '/operations/6f9619ff-8b86-4d11-b42d-00c04fc964ff'],
    ['../a?b', '/workers/..%2Fa%3Fb'],
    ['  ', undefined],
  ])('"%s" is at %s', (given, path) => {
    expect(findPlace(given)).toBe(path);
  });
});

test('numbers and words are as people read them', () => {
  expect([count(1, 'job'), count(1_234_567, 'job'), count(0, 'entity', 'entities')]).toEqual([
    '1 job',
    '1 234 567 jobs',
    '0 entities',
  ]);
  expect(number(999)).toBe('999');
  expect(plain('at_pool_cap')).toBe('at pool cap');
});
