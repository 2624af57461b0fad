import { expect, test } from '@jest/globals';
import { runCommand } from '@paddock/cli/run-command';
import { waitFor } from '@paddock/testing/wait-for';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { parse } from 'yaml';
import { describeInBrowser, useBrowser } from './scenes/browser.scene.ts';
import { useSystem } from './start-system.ts';

const INGRESS = 'https://paddock.example.com';

const onTerminal = (notes = new PassThrough()) => ({
  input: new PassThrough(),
  output: new PassThrough(),
  notes,
});

const create = (...words: string[]) =>
  run(['app', 'create', 'Runners of acme', '--webhook-url', INGRESS, ...words]);

/** Runs a command; `told` is what it says meanwhile. */
function run(given: readonly string[]) {
  const notes = new PassThrough({ encoding: 'utf8' });
  let told = '';
  notes.on('data', (text: string) => (told += text));
  const address = () => waitFor('the address', () => /http:\S+/.exec(told)?.[0]);
  return { ended: runCommand(given, {}, onTerminal(notes)), address };
}

describeInBrowser('an App is made by its manifest', () => {
  const system = useSystem();
  const browser = useBrowser();

  /** What a person does in the browser. */
  async function makeAt(address: string): Promise<void> {
    const page = await browser.newPage();
    await page.goto(address);
    await page.getByRole('button', { name: 'Go to GitHub' }).click();
    await page.getByRole('button', { name: 'Create GitHub App' }).click();
    await page.getByText('The terminal says what comes next').waitFor();
    await page.close();
  }

  test('and a first job runs with its credentials, which only their owner can read (H4, P1)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paddock-app-'));
    const dir = join(folder, 'app');
    const api = ['--api-url', `${system.github.url}/api/v3`];
    const { ended, address } = create('--org', 'acme', '--dir', dir, ...api);
    await makeAt(await address());
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([0, '']);
    expect(readdirSync(dir).map((name) => statSync(join(dir, name)).mode & 0o777)).toEqual([
      0o600, 0o600,
    ]);
    const { github } = parse(/^github:[^]*?\n\n/m.exec(stderr)?.[0] ?? '') as {
      github: { apps: [{ id: number }] };
    };
    const appId = github.apps[0].id;
    expect(stderr).toContain('/installations/new');
    const file = join(folder, 'paddock.yaml');
    const pools = parse(readFileSync(system.config, 'utf8')) as object;
    writeFileSync(
      file,
      JSON.stringify({ ...pools, github: { apiUrl: system.github.url, ...github } }),
    );
    const check = await runCommand(['app', 'check', file], {});
    expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining(`App ${appId}`) });

    await system.github.addOrganization({ login: 'globex' });
    await system.github.addRepository({ owner: 'globex', name: 'api', private: true });
    await system.github.install({ appId, account: 'globex', announce: false });
    const settings = { PADDOCK_CONFIG: file };
    const ingress = await system.start('ingress', { settings });
    const webhookUrl = `http://127.0.0.1:${ingress.port}/webhooks/github`;
    await system.github.setApp(appId, { webhookUrl });
    await system.start('scheduler', { settings });
    const jobs = await system.queueJobs(1, { repo: 'globex/api', durationMs: 10 });
    await system.untilJobs(jobs, 'completed');
    rmSync(folder, { recursive: true });
  });

  test('and paddock init names it in the values that it writes (H4)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paddock-init-'));
    const file = join(folder, 'values.yaml');
    const given = {
      '--account': `${system.github.url}/acme`,
      '--webhook-url': INGRESS,
      '--app': 'create',
    };
    const { ended, address } = run(['init', file, ...Object.entries(given).flat()]);
    await makeAt(await address());
    const dir = join(folder, 'paddock-github');
    expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining(dir) });
    expect(readdirSync(dir)).toEqual(['private-key.pem', 'webhook-secret']);
    const { config } = parse(readFileSync(file, 'utf8')) as {
      config: { github: { apps: [{ id: number }] } };
    };
    expect(config.github.apps[0].id).toBeGreaterThan(1);
    rmSync(folder, { recursive: true });
  });

  test('and what is no answer to it makes nothing: a wrong state, a used code (H4)', async () => {
    const api = ['--api-url', system.github.url];
    const { ended, address } = create('--secret', 'of-acme', ...api);
    const url = await address();
    expect(await (await fetch(url)).text()).toContain('{&quot;name&quot;:');
    expect((await fetch(`${url}created?code=x&state=guessed`)).status).toBe(400);
    const state = /state=(\w+)/.exec(await (await fetch(url)).text())?.[1] ?? '';
    await fetch(`${url}created?code=used&state=${state}`);
    expect(await ended).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/does not give its credentials .*Not Found.*: delete the App/),
    });
  });
});

test.each([
  [['--webhook-url', 'http://paddock.example.com'], '--webhook-url must be an address'],
  [['--org', 'a/b'], '--org must be the login'],
  [['--port', '99999'], '--port must be a number'],
  [['--dir', '/dev/null/x'], 'cannot be written into /dev/null/x'],
])('app create refuses %j before anything is made (H4)', async (words, said) => {
  const rest = words.includes('--webhook-url') ? [] : ['--webhook-url', INGRESS];
  const { code, stderr } = await runCommand(
    ['app', 'create', 'x', ...rest, ...words],
    {},
    onTerminal(),
  );
  expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
});
