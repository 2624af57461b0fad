import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { printSettings } from '@paddock/runtime/settings';
import { readConsoleConfig, settings } from './config.ts';

const GOOD = { DATABASE_URL: 'postgresql://user:hidden@localhost/paddock' };

test('a database is all that the console needs; it reads no file with credentials (H1)', () => {
  expect(readConsoleConfig({ ...GOOD, PADDOCK_CONFIG: '/nowhere.yaml' })).toMatchObject({
    httpPort: 8084,
    healthPort: 8085,
    schema: 'paddock',
  });
});

test('every problem is named at once, and no secret is printed (H1)', () => {
  expect(() =>
    readConsoleConfig({ PADDOCK_PUBLIC_PORT: 'x', PADDOCK_CONSOLE_POOL_SIZE: '1' }),
  ).toThrow(/DATABASE_URL is not set[^]*PADDOCK_PUBLIC_PORT[^]*PADDOCK_CONSOLE_POOL_SIZE/);
  expect(printSettings(settings, readConsoleConfig(GOOD))).not.toContain('hidden');
});

describe('the file about signing in', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'paddock-sign-in-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each([
    ['{}', 'groups: is missing'],
    ['groups: {}\nproxy: { peers: [10.0.0.1] }', 'must name a group'],
    ["groups: { read: ['*'] }", 'must have oidc or proxy'],
    ["groups: { read: ['*'] }\nproxy: { peers: [] }", 'proxy.peers: '],
    [
      "groups: { read: ['*'] }\noidc: { issuer: 'http://id.example' }",
      'oidc.issuer: must be an https URL',
    ],
    [
      "groups: { read: ['*'] }\noidc: { url: 'https://ci.example/' }",
      'oidc.url: must be an http or https URL without a slash',
    ],
    ["groups: { reads: ['*'] }", 'groups: there is no key `reads` here; did you mean `read`?'],
    [
      `groups: { read: ['*'] }
oidc: { url: 'https://ci.example', issuer: 'https://id.example', clientId: x, clientSecret: { env: NONE } }`,
      'The client secret of the identity provider is read from the variable NONE, which is not set',
    ],
  ])('is refused at the start if it could not work: %s (H1)', async (text, why) => {
    const path = join(folder, 'sign-in.yaml');
    await writeFile(path, text);
    expect(() => readConsoleConfig({ ...GOOD, PADDOCK_SIGN_IN: path })).toThrow(why);
  });
});
