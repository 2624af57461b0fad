import { expect, test } from '@jest/globals';
import { partsOf } from './diagnoses.ts';

test('an advice leads to the job that it names (G3)', () => {
  expect(partsOf('`paddock why 34500000164` explains the last one.')).toEqual([
    '',
    { job: '34500000164' },
    ' explains the last one.',
  ]);
  expect(partsOf('Take `paused` out.')).toEqual(['Take `paused` out.']);
});
