import { expect, test } from '@jest/globals';
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
    readConsoleConfig({ PADDOCK_CONSOLE_HTTP_PORT: 'x', PADDOCK_CONSOLE_POOL_SIZE: '1' }),
  ).toThrow(/DATABASE_URL is not set[^]*PADDOCK_CONSOLE_HTTP_PORT[^]*PADDOCK_CONSOLE_POOL_SIZE/);
  expect(printSettings(settings, readConsoleConfig(GOOD))).not.toContain('hidden');
});
