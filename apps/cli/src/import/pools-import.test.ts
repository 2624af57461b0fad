import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { CommandResult } from '../command.ts';
import { runCommand } from '../run-command.ts';
import { BAD_FILES, GOOD_FILES, SCALE_SET } from './files.scene.ts';

const folder = mkdtempSync(join(tmpdir(), 'paddock-import-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string, name = 'arc.yaml'): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const imported = (text: string, words: readonly string[] = [], name?: string) =>
  runCommand(['pools', 'import', fileWith(text, name), ...words], {});

/** Without the folder, which each run has another of. */
const saidBy = ({ stderr }: CommandResult): string => stderr.replaceAll(`${folder}/`, '');

/** Other programs of the machine do not count. */
const cpuSecondsSince = (began: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
};

describe('paddock pools import', () => {
  test.each(GOOD_FILES)('$what', async ({ text, words, name, config, says = [] }) => {
    const result = await imported(text, words, name);
    const written = parse(result.stdout) as { pools: object[] };
    expect(written).toMatchObject(config);
    for (const sentence of says) expect(saidBy(result)).toContain(sentence);
    const checked = await runCommand(['pools', 'check', fileWith(result.stdout, 'made.yaml')], {});
    expect(checked.code).toBe(0);
    expect(result.code).toBe(0);
  });

  test.each(BAD_FILES)('$what becomes no pool, and a sentence says why', async (file) => {
    const began = process.cpuUsage();
    const { text, words, name, says } = file;
    const result = await imported(text, words, name);
    expect(result.code).toBe(1);
    expect(saidBy(result)).toContain(says);
    expect(cpuSecondsSince(began)).toBeLessThan(2);
  });

  test('the standard input is a file, too', async () => {
    const terminal = { input: Readable.from([SCALE_SET]), output: null, notes: null };
    const { code, stdout } = await runCommand(['pools', 'import', '-'], {}, terminal as never);
    expect([code, parse(stdout)]).toMatchObject([0, { pools: [{ name: 'linux-x64' }] }]);
  });

  test('of several files, a set that becomes no pool takes no other with it', async () => {
    const bad = fileWith('maxRunners: 5', 'bad.yaml');
    const { code, stdout, stderr } = await runCommand(
      ['pools', 'import', fileWith(SCALE_SET), bad, join(folder, 'nowhere.yaml')],
      {},
    );
    expect(code).toBe(1);
    expect(parse(stdout)).toMatchObject({ pools: [{ name: 'linux-x64' }] });
    expect(stderr).toContain('bad: githubConfigUrl: is missing: name the address with --url.');
    expect(stderr).toContain('nowhere.yaml: cannot be read');
  });

  test('no credential is shown, of the token or the key in the values', async () => {
    const { stdout, stderr } = await imported(`
githubConfigUrl: https://github.com/acme
githubConfigSecret: { github_token: ghp_hush, github_app_private_key: hush-hush }
`);
    expect(stdout + stderr).not.toContain('hush');
  });

  test('--json is one object on one line', async () => {
    const { stdout } = await imported(
      `${SCALE_SET}\n---\nkind: Secret\napiVersion: v1\nmetadata: { name: s }`,
      ['--json'],
    );
    expect(stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout)).toMatchObject({
      config: { pools: [{ name: 'linux-x64' }] },
      pools: [{ pool: 'linux-x64' }],
      refused: [],
      remarks: expect.arrayContaining([
        { from: expect.stringContaining('Secret s'), sentence: 'holds no runner set' },
      ]),
      commands: [
        expect.stringContaining('github_app_id'),
        expect.stringContaining('kubectl create secret generic paddock-github'),
      ],
    });
  });

  test('two hundred sets of a cluster are a file within two seconds', async () => {
    const [one = ''] = SCALE_SET.split('\n---');
    const items = Array.from({ length: 200 }, (_, n) => ({
      ...(parse(one) as object),
      metadata: { name: `set-${n}`, namespace: `team-${n % 20}` },
    }));
    const began = process.cpuUsage();
    const { code } = await imported(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    expect(code).toBe(0);
    expect(cpuSecondsSince(began)).toBeLessThan(2);
  });
});
