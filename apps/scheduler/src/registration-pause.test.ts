import { expect, test } from '@jest/globals';
import { registrationPause } from './registration-pause.ts';

test.each([
  ['none', undefined, 0],
  ['one just now', { count: 1, newestAgeMs: 0 }, 500],
  ['one a second ago', { count: 1, newestAgeMs: 1_000 }, 0],
  ['five just now', { count: 5, newestAgeMs: 0 }, 8_000],
  ['hundreds just now', { count: 400, newestAgeMs: 0 }, 60_000],
  ['hundreds, the last a minute ago', { count: 400, newestAgeMs: 60_000 }, 0],
])('after useless registrations (%s) the next one waits longer, at most a minute (C11, P4)', (_name, useless, expected) => {
  expect(registrationPause(useless)).toBe(expected);
});
