import { describe, expect, test } from '@jest/globals';
import { runCommand } from '@paddock/cli/run-command';
import { HELM, helmTemplate, objectsIn } from '@paddock/testing/render-chart';
import { useFolder } from '@paddock/testing/use-folder';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { parse } from 'yaml';
import { configOf } from './scenes/chart-releases.scene.ts';

const folder = useFolder();

let made = 0;
const newFile = () => join(folder, `values-${(made += 1)}.yaml`);

const GIVEN = {
  '--account': 'https://github.com/acme',
  '--webhook-url': 'https://paddock.example.com',
  '--app': '123456',
};

const init = (file: string, given: Record<string, string> = GIVEN) =>
  runCommand(['init', file, ...Object.entries(given).flat()], {});

/** Somebody types these lines, and closes the terminal. */
async function type(file: string, ...lines: string[]) {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const notes = new PassThrough({ encoding: 'utf8' });
  input.end(lines.map((line) => `${line}\n`).join(''));
  const result = await runCommand(['init', file], {}, { input, output, notes });
  return { ...result, told: String(notes.read()) };
}

const described = HELM === undefined ? describe.skip : describe;

described('the chart and paddock init (needs helm)', () => {
  test.each([
    ['a Secret', 'paddock-db-app/uri'],
    ['a first look', 'evaluation'],
  ])('the chart takes its values, with the database of %s', async (_, database) => {
    const file = newFile();
    await init(file, {
      ...GIVEN,
      '--account': 'https://github.example.com/acme',
      '--database': database,
    });
    const set = { image: { registry: 'registry.test/paddock' } };
    const rendered = helmTemplate({
      release: 'paddock',
      namespace: 'paddock',
      values: [file],
      set,
    });
    expect(parse(configOf(objectsIn(rendered)))).toMatchObject({
      github: { apiUrl: 'https://github.example.com/api/v3' },
    });
  });
});

describe('paddock init', () => {
  test('writes a configuration that pools check accepts (H4)', async () => {
    const file = newFile();
    const { code, stdout, stderr } = await init(file);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('--from-file=webhook-secret --from-file=private-key.pem');
    expect(await runCommand(['pools', 'check', file], {})).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('it has 1 pool'),
    });
    expect(parse(readFileSync(file, 'utf8'))).toMatchObject({
      database: { existingSecret: { name: 'paddock-database', key: 'uri' } },
      webhook: { ingress: { host: 'paddock.example.com' } },
      config: {
        github: { apiUrl: 'https://api.github.com', apps: [{ id: 123_456 }] },
        pools: [{ name: 'linux-x64', labels: ['self-hosted', 'linux', 'x64'] }],
        entities: { acme: {} },
      },
    });
  });

  test('overwrites nothing', async () => {
    const file = newFile();
    writeFileSync(file, 'mine');
    expect(await init(file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is there already'),
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('names what is not given where nobody can be asked', async () => {
    const file = newFile();
    expect(await init(file, { '--labels': 'linux' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--account, --webhook-url, --app.'),
    });
    expect(existsSync(file)).toBe(false);
  });

  test.each([
    [{ '--account': 'https://github.com/acme/api' }, '--account must be'],
    [{ '--account': 'http://github.example.com/acme' }, 'begins with https://'],
    [{ '--app': '0' }, '--app must be'],
    [{ '--database': 'postgresql://me:hidden@db/paddock' }, '--database must be'],
    [{ '--labels': 'linux,,x64' }, '--labels must be'],
    [{ '--namespace': 'Runners' }, 'must be a Kubernetes namespace'],
  ])('refuses %j, and writes nothing', async (given, said) => {
    const file = newFile();
    const { code, stderr } = await init(file, { ...GIVEN, ...given });
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
    expect(stderr).not.toContain('hidden');
    expect(existsSync(file)).toBe(false);
  });

  test('asks on a terminal, and again after what it cannot use', async () => {
    const file = newFile();
    const { code, told } = await type(
      file,
      'acme',
      'http://paddock.example.com',
      'https://paddock.example.com',
      '77',
      '',
      'self-hosted, GPU',
    );
    expect([code, told]).toEqual([0, expect.stringContaining('begins with https://')]);
    expect(parse(readFileSync(file, 'utf8'))).toMatchObject({
      config: {
        github: { apps: [{ id: 77 }] },
        pools: [{ name: 'gpu', labels: ['self-hosted', 'GPU'] }],
      },
    });
  });

  test('writes nothing if the person leaves', async () => {
    const file = newFile();
    expect(await type(file, 'acme')).toMatchObject({ code: 1, stderr: 'Nothing was written.\n' });
    expect(existsSync(file)).toBe(false);
  });
});
