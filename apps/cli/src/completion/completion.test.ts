import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { COMMANDS } from '../commands.ts';
import { runCommand } from '../run-command.ts';

const scriptFor = async (shell: string) => (await runCommand(['completion', shell], {})).stdout;

/** What a person has written up to the cursor, and words that are and are not offered then. */
const LINES: readonly (readonly [
  line: string,
  offered: readonly string[],
  missing: readonly string[],
])[] = [
  ['paddock ', ['why', 'operations', 'token', 'completion', 'help'], ['create', '--state']],
  ['paddock wor', ['worker', 'workers'], ['why']],
  ['paddock token ', ['create', 'list', 'revoke'], ['why']],
  ['paddock operations ', ['counts', 'failed', 'retry', 'discard'], ['why']],
  ['paddock operations failed --', ['--kind', '--limit', '--json', '--help'], ['--all']],
  ['paddock jobs --state ', ['waiting', 'running', 'ended'], ['why', '--json']],
  ['paddock jobs --state=w', ['waiting'], ['running']],
  ['paddock jobs --json --state r', ['running'], ['ended']],
  ['paddock jobs --entity ', [], ['waiting', '--json']],
  ['paddock token create ci --access ', ['read', 'operate'], []],
  ['paddock run ', ['redeliver', 'check-apps'], ['all']],
  ['paddock pause check-', ['check-apps'], ['sweeps']],
  ['paddock resume ', ['environment', 'sweeps', 'check-apps'], ['pool:NAME']],
  ['paddock completion ', ['bash', 'zsh', 'fish'], []],
  ['paddock help j', ['jobs', 'job'], ['why']],
];

/** The words that are offered after each line, by a program that prints them a line each. */
function offeredBy(program: string, words: readonly string[]): string[][] {
  const { stdout, stderr, status } = spawnSync(program, words, { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ').filter((word) => word !== ''));
}

function expectLines(found: readonly (readonly string[])[]): void {
  expect(found).toHaveLength(LINES.length);
  for (const [n, [line, offered, missing]] of LINES.entries()) {
    const words = found[n] ?? [];
    expect({ line, offered: offered.filter((word) => words.includes(word)) }).toEqual({
      line,
      offered,
    });
    expect({ line, missing: missing.filter((word) => words.includes(word)) }).toEqual({
      line,
      missing: [],
    });
  }
}

const has = (shell: string): boolean => spawnSync(shell, ['-c', ':']).status === 0;
const testWith = (shell: string) => (has(shell) ? test : test.skip);

describe('completion (D12)', () => {
  testWith('bash')('bash completes commands, options and values', async () => {
    // As bash splits a line: at \`=\`, too.
    const asks = LINES.map(([line]) => {
      const words = line.replaceAll('=', ' = ').split(' ');
      return `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _paddock; echo "\${COMPREPLY[*]}"; COMPREPLY=()`;
    });
    const script = [await scriptFor('bash'), 'complete -p paddock >/dev/null', ...asks].join('\n');
    expectLines(offeredBy('bash', ['--norc', '-euc', script]));
  });

  testWith('zsh')('zsh completes commands, options and values', async () => {
    // The functions of its completion need a line editor, so these stand for the two that are called.
    const stubs = `compdef() { : }
      _describe() { for one in \${(P)@[-1]}; do [[ \${one%%:*} == \${PREFIX}* ]] && print -n -- "\${one%%:*} "; done }
      compadd() { shift; for one in "$@"; do [[ $one == \${PREFIX}* ]] && print -n -- "$one "; done }
      compset() { PREFIX=\${PREFIX#*=} }`;
    const asks = LINES.map(([line]) => {
      const words = line.split(' ');
      return `words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; PREFIX='${words.at(-1)}'; _paddock; print`;
    });
    expectLines(offeredBy('zsh', ['-fc', [stubs, await scriptFor('zsh'), ...asks].join('\n')]));
  });

  testWith('fish')('fish completes commands, options and values', async () => {
    const asks = LINES.map(
      ([line]) =>
        `echo (complete -C '${line}' | string replace -r '\\\\t.*' '' | string replace -r '^--state=' '')`,
    );
    expectLines(
      offeredBy('fish', ['--no-config', '-c', [await scriptFor('fish'), ...asks].join('\n')]),
    );
  });

  test.each(['bash', 'zsh', 'fish'])(
    '%s knows each command and each of its options',
    async (shell) => {
      const script = await scriptFor(shell);
      for (const { name, options } of COMMANDS) {
        expect(script).toContain(` ${name}`);
        for (const option of Object.keys(options))
          expect(script).toMatch(new RegExp(`(--|-l )${option}\\b`));
      }
    },
  );

  test('another shell is a wrong command', async () => {
    expect(await runCommand(['completion', 'tcsh'], {})).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('one of bash, zsh, fish'),
    });
  });
});
