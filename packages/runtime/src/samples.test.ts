import { expect, test } from '@jest/globals';
import { createSamples } from './samples.ts';

test('logs the first of its kind at once, then one in a minute with the number of left-out ones; each kind counts alone (H1)', () => {
  const clock = { ms: 0 };
  const sample = createSamples(() => clock.ms);
  expect(sample('bad_signature')).toEqual({ leftOut: 0 });
  for (let nth = 0; nth < 500; nth++) expect(sample('bad_signature')).toBeUndefined();
  expect(sample('bad_headers')).toEqual({ leftOut: 0 });
  clock.ms = 59_999;
  expect(sample('bad_signature')).toBeUndefined();
  clock.ms = 60_000;
  expect(sample('bad_signature')).toEqual({ leftOut: 501 });
  expect(sample('bad_signature')).toBeUndefined();
  clock.ms = 120_000;
  expect(sample('bad_signature')).toEqual({ leftOut: 1 });
});
