import { expect, test } from '@jest/globals';
import { isRunnerOf, readRunnerName } from './runner-name.ts';

test.each([
  ['pdk-abc123-linux-x64-0123456789ab', 'pdk-abc123-linux-x64-0123456789ab'],
  ['PDK-abc123-Linux-X64-0123456789AB', 'pdk-abc123-linux-x64-0123456789ab'],
  [' pdk-abc123-linux-x64-0123456789ab\t', 'pdk-abc123-linux-x64-0123456789ab'],
  ['GitHub Actions 12', 'GitHub Actions 12'],
  [' Mac mini ', 'Mac mini'],
  ['pd', 'pd'],
  ['   ', ''],
])('the runner %j is the worker %j (B7)', (name, expected) => {
  expect(readRunnerName(name)).toBe(expected);
});

test.each([
  [{ name: 'pdk-1', id: 5 }, 5, true],
  [{ name: 'pdk-1', id: 6 }, 5, false],
  [{ name: 'pdk-2', id: 5 }, 5, false],
  [{ name: 'pdk-1', id: null }, 5, true],
  [{ name: 'pdk-1', id: 6 }, null, true],
  [{ name: null, id: 5 }, 5, false],
])(
  'the runner %j is that of the worker pdk-1 with the runner %j: %s (B7)',
  (runner, runnerId, expected) => {
    expect(isRunnerOf({ podName: 'pdk-1', runnerId }, runner)).toBe(expected);
  },
);
