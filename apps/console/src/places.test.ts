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

test('whoever waits gets the places of the same caller, in order, and others keep theirs', async () => {
  const places = createPlaces({ most: 5, mostEach: 1, mostWaitingEach: 2 });
  const release = places.take('a');
  const order: string[] = [];
  const waitAs = async (name: string) => {
    const left = await places.await('a', 60_000);
    order.push(name);
    return left;
  };
  const [first, second] = [waitAs('first'), waitAs('second')];
  expect(await places.await('a', 60_000)).toBeUndefined();
  const other = places.take('b');
  expect(other).toBeDefined();
  other?.();
  expect(order).toEqual([]);
  release?.();
  const leave = await first;
  expect(order).toEqual(['first']);
  expect(places.take('a')).toBeUndefined();
  leave?.();
  (await second)?.();
  expect(order).toEqual(['first', 'second']);
  expect(places.take('a')).toBeDefined();
});

test('those that wait take no place of others, and give up in time', async () => {
  const places = createPlaces({ most: 2, mostEach: 1, mostWaitingEach: 10 });
  const release = places.take('a');
  const waiting = places.await('a', 1);
  const other = places.take('b');
  expect(other).toBeDefined();
  expect(await waiting).toBeUndefined();
  release?.();
  expect(places.take('a')).toBeDefined();
  expect(await places.await('c', 60_000)).toBeUndefined();
  other?.();
  expect(await places.await('c', 60_000)).toBeDefined();
});
