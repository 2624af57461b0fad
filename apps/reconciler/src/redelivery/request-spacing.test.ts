import { expect, test } from '@jest/globals';
import { requestSpacingMs } from './request-spacing.ts';

test('requests for one delivery are 5, 5, 5, 10, 20, 40, then 60 minutes apart (E1)', () => {
  const minutes = Array.from(
    { length: 9 },
    (_, index) => requestSpacingMs(index + 1, 300_000) / 60_000,
  );
  expect(minutes).toEqual([5, 5, 5, 10, 20, 40, 60, 60, 60]);
});
