import { expect, jest, test } from '@jest/globals';
import { runCommand } from './run-command.ts';

/** What is printed for the shell's script after what a person has written. */
async function printed(written: string): Promise<string[]> {
  const lines: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line));
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(String(line).trimEnd());
    return true;
  });
  await runCommand(['complete', '--', ...written.split(' ')], {});
  for (const spy of [log, write]) spy.mockRestore();
  return lines.map((line) => line.split('\t')[0] ?? '');
}

test.each([
  ['', ['why', 'operations', 'token', 'completion'], ['create', '--state']],
  ['wor', ['worker', 'workers'], ['why']],
  ['token ', ['create', 'list', 'revoke'], ['why']],
  ['operations failed --', ['--kind', '--limit', '--json'], ['--all']],
  ['jobs --state ', ['waiting', 'running', 'ended'], ['why', '--json']],
  ['jobs --state=w', ['waiting'], ['running']],
  ['jobs --json --state r', ['running'], ['ended']],
  ['jobs --entity ', [':4'], ['waiting', '--json']],
  ['run ', ['redeliver', 'check-apps'], ['all']],
  ['resume ', ['environment', 'sweeps', 'check-apps'], ['pool:NAME']],
  ['completion ', ['bash', 'zsh', 'fish'], []],
  // A file of the shell's own.
  ['pools check ', [':0'], ['why']],
])('after `paddock %s` are %j, and not %j (D12)', async (written, some, others) => {
  const words = await printed(written);
  expect(words).toEqual(expect.arrayContaining(some));
  expect(words.filter((word) => others.includes(word))).toEqual([]);
});
