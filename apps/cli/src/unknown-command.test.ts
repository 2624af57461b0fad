import { expect, test } from '@jest/globals';
import { runCommand } from './run-command.ts';

test.each([
  [['workres'], 'workers'],
  [['wy', '7'], 'why'],
  [['resink', 'acme/api'], 'resync'],
  [['tokn', 'list'], 'token'],
  [['session', 'lst'], 'list'],
  [['something'], undefined],
])('%j may mean %j', async (words, meant) => {
  const { code, stderr } = await runCommand(words, {});
  const [first = '', second = ''] = stderr.split('\n');
  const [, said] = /^\(Did you mean (?:one of )?(.*)\?\)$/.exec(second) ?? [];
  expect([code, said, first]).toEqual([2, meant, expect.stringContaining('unknown command')]);
});
