import { expect, test } from '@jest/globals';
import { createPlaces } from './places.ts';

test('one caller gets its own places only, and all together no more than there are', () => {
  const places = createPlaces({ most: 3, mostEach: 2 });
  const release = places.take('a');
  expect(places.take('a')).toBeDefined();
  expect(places.take('a')).toBeUndefined();
  expect(places.take('b')).toBeDefined();
  expect(places.take('c')).toBeUndefined();
  release?.();
  expect(places.take('c')).toBeDefined();
  expect(places.take('a')).toBeUndefined();
});
