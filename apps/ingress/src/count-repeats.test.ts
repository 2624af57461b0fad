import { expect, test } from '@jest/globals';
import { createRepeats } from './count-repeats.ts';

test('a body is looked up ten times in a minute, and again in the next', () => {
  const clock = { ms: 0 };
  const repeats = createRepeats(() => clock.ms);
  for (let times = 0; times < 10; times++) {
    expect(repeats.isExcessive('a')).toBe(false);
    repeats.stored('a');
  }
  expect(repeats.isExcessive('a')).toBe(true);
  expect(repeats.isExcessive('b')).toBe(false);
  clock.ms = 60_000;
  expect(repeats.isExcessive('a')).toBe(false);
  repeats.stored('a');
  expect(repeats.isExcessive('a')).toBe(false);
});

test('of very many bodies the last are remembered, and those that keep coming', () => {
  const repeats = createRepeats(() => 0);
  for (let times = 0; times < 10; times++) {
    repeats.stored('rare');
    repeats.stored('frequent');
  }
  for (let nth = 0; nth < 10_000; nth++) {
    repeats.stored(`other ${nth}`);
    if (nth % 1_000 === 0) repeats.stored('frequent');
  }
  expect(repeats.isExcessive('frequent')).toBe(true);
  expect(repeats.isExcessive('rare')).toBe(false);
});
