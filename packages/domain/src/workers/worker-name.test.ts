import { expect, test } from '@jest/globals';
import { isOfSameInstance, isWorkerName, workerName } from './worker-name.ts';

test('a worker’s name begins with its instance, and has no dots (A8)', () => {
  const name = workerName('abc123', 'v1.29-arm', '0123456789ab');
  expect(name).toBe('pdk-abc123-v1-29-arm-0123456789ab');
  expect(isWorkerName(name, 'abc123')).toBe(true);
  expect(isOfSameInstance(workerName('abc123', 'other', '000000000000'), name)).toBe(true);
});

test.each([
  ['of another instance', 'pdk-abc124-linux-0123456789ab'],
  ['of an instance that begins alike', 'pdk-abc1234-linux-0123456789ab'],
  ['that begins otherwise', 'my-pdk-abc123-linux-0123456789ab'],
  ['with a capital letter', 'pdk-abc123-Linux-0123456789ab'],
  ['with a dot', 'pdk-abc123-v1.29-0123456789ab'],
  ['that is too long', `pdk-abc123-${'l'.repeat(50)}`],
])('a name %s is of no worker of the instance (A8)', (_which, name) => {
  expect(isWorkerName(name, 'abc123')).toBe(false);
});

test.each([
  'pdk-abc124-linux-0123456789ab',
  'pdk-abc1234-linux-0123456789ab',
  'build-box-1',
  'pdk-abc123',
])('the runner %s is of another instance than a worker (A8)', (name) => {
  expect(isOfSameInstance(name, 'pdk-abc123-linux-0123456789ab')).toBe(false);
});
