import { expect, test } from '@jest/globals';
import { readRunnerName } from './runner-name.ts';

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
