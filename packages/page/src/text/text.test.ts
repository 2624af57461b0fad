import { describe, expect, test } from '@jest/globals';
import {
  ago,
  amount,
  between,
  count,
  instant,
  number,
  partsOf,
  percent,
  plain,
  readJson,
  until,
  withoutTurns,
} from './words.ts';

describe('a length of time', () => {
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

test('what is due is now for a minute, and then past', () => {
  const now = Date.parse('2026-01-31T09:01:00Z');
  expect([
    until('2026-01-31T09:02:00Z', now),
    until('2026-01-31T09:00:00Z', now),
    until('2026-01-31T09:01:00Z', now),
    until('2026-01-31T08:30:00Z', now),
  ]).toEqual(['in 1 min', 'now', 'now', '31 min ago']);
});

test('a stranger’s text does not turn what stands behind it', () => {
  expect(readJson('{"name":"a\u202Eb\u2066","arabic":"\u0639"}')).toEqual({
    name: 'a\\u202eb\\u2066',
    arabic: '\u0639',
  });
  expect(readJson('<html>')).toBeUndefined();
  expect(withoutTurns('a\u202Eb')).toBe('a\\u202eb');
});

test('numbers and words are as people read them', () => {
  expect([count(1, 'job'), count(1_234_567, 'job'), count(0, 'entity', 'entities')]).toEqual([
    '1 job',
    '1 234 567 jobs',
    '0 entities',
  ]);
  expect(number(999)).toBe('999');
  expect([0, 0.01, 0.0833, 3, 9.94, 9.96, 1234.4].map(amount)).toEqual([
    '0',
    '< 0.1',
    '0.1',
    '3.0',
    '9.9',
    '10',
    '1 234',
  ]);
  expect(plain('at_pool_cap')).toBe('at pool cap');
  expect([null, 0, 0.001, 0.126, 1].map(percent)).toEqual(['–', '0 %', '< 1 %', '13 %', '100 %']);
});

test('an advice leads to the job that it names (G3)', () => {
  expect(partsOf('`paddock why 34500000164` explains the last one.')).toEqual([
    '',
    { job: '34500000164' },
    ' explains the last one.',
  ]);
  expect(partsOf('Take `paused` out.')).toEqual(['Take ', { code: 'paused' }, ' out.']);
  const [real, unreal] = ['2026-01-31T09:00:00Z', '2026-13-31T09:00:00Z'];
  expect(partsOf(`Until ${real}, not ${unreal} or \`.`)).toEqual([
    'Until ',
    { at: real },
    ', not ',
    unreal,
    ' or `.',
  ]);
});
