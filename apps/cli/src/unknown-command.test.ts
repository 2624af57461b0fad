import { expect, test } from '@jest/globals';
import { runCommand } from './run-command.ts';

test.each([
  [['workres'], 'workers'],
  [['wy', '7'], 'why'],
  [['resink', 'acme/api'], 'resync'],
  [['tokn', 'list'], 'token list'],
  [['operations', 'faild'], undefined],
  [['session', 'lst'], 'session list'],
  [['something'], undefined],
  [['-x'], undefined],
])('%j may mean %j', async (words, meant) => {
  const { stderr } = await runCommand(words, {});
  const [first = ''] = stderr.split('\n');
  const [, said] = /Did you mean `paddock (.*)`\?$/.exec(first) ?? [];
  expect([said, first.startsWith('There is no command ')]).toEqual([
    meant,
    meant !== undefined || ['something', '-x'].includes(words[0] ?? ''),
  ]);
});
