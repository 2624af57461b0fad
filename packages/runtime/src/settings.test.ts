import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { Secret } from './secret.ts';
import { serviceSettings } from './service-settings.ts';
import { choice, integer, optional, readSettings, secret, text } from './settings.ts';

const declared = {
  tickMs: integer({
    env: 'PADDOCK_TICK_MS',
    doc: 'how often to look',
    default: 15_000,
    min: 10,
    max: 600_000,
  }),
  name: text({ env: 'PADDOCK_NAME', doc: 'what to be called' }),
  level: choice({
    env: 'PADDOCK_LEVEL',
    doc: 'how much to say',
    of: ['low', 'high'],
    default: 'low',
  }),
  key: secret({
    env: 'PADDOCK_KEY',
    doc: 'the key',
    check: (value) => (value.length < 4 ? 'must have 4 characters' : undefined),
  }),
  place: optional(text({ env: 'PADDOCK_PLACE', doc: 'where' })),
};

describe('reading settings (H1, H6)', () => {
  test('parses values without the space around them, fills in defaults and freezes the result', () => {
    const { values, problems } = readSettings(declared, {
      PADDOCK_NAME: 'a ',
      PADDOCK_KEY: 'sesame\r\n',
      PADDOCK_TICK_MS: '20\n',
      PADDOCK_LEVEL: '\n',
    });
    expect(problems).toEqual([]);
    expect({ ...values, key: values.key.reveal() }).toEqual({
      tickMs: 20,
      name: 'a',
      level: 'low',
      key: 'sesame',
      place: undefined,
    });
    expect(Object.isFrozen(values)).toBe(true);
  });

  test('reports all problems at once, and does not show a wrong secret', () => {
    const { problems } = readSettings(declared, {
      PADDOCK_TICK_MS: '5',
      PADDOCK_LEVEL: 'middle',
      PADDOCK_KEY: 'abc',
    });
    expect(problems).toEqual([
      'PADDOCK_TICK_MS must be between 10 and 600000, and is "5"',
      'PADDOCK_NAME is not set: what to be called',
      'PADDOCK_LEVEL must be one of low, high, and is "middle"',
      'PADDOCK_KEY must have 4 characters',
    ]);
  });

  test('refuses a name that is nearly right, and ignores names of other services', () => {
    const { problems } = readSettings(
      { tickMs: declared.tickMs },
      {
        PADDOCK_TICKMS: '20',
        PADDOCK_QUITE_ANOTHER: '1',
        PADDOCK_SERVICE_HOST: '10.0.0.1',
        PATH: '/bin',
      },
    );
    expect(problems).toEqual(['PADDOCK_TICKMS is not a setting: did you mean PADDOCK_TICK_MS?']);
  });

  test.each([
    ['p@ss#word@db', /is no URL: write special characters .* in percent-encoding/],
    ['p/word@db', /is no URL: write special characters .* in percent-encoding/],
    ['p@a,word@db:x', /is no URL: write special characters .* in percent-encoding/],
    ['word@one:5432,two:5432', /names several hosts, which Paddock does not support/],
    ['word@one,two', /names several hosts, which Paddock does not support/],
    ['1?word@db', /has a parameter that PostgreSQL does not know: .* %3F for \?/],
  ])('refuses a DSN with %s, says why, and does not show it (A11)', (part, said) => {
    const DATABASE_URL = `postgresql://u:${part}/x`;
    const { problems } = readSettings(serviceSettings, { DATABASE_URL, PADDOCK_CONFIG: 'x' });
    expect(problems).toEqual([expect.stringMatching(said)]);
    expect(problems.join('\n')).not.toContain('word@');
  });

  test('refuses several hosts that are a parameter, and says so (A11)', () => {
    const DATABASE_URL = 'postgresql:///x?host=a,b';
    const { problems } = readSettings(serviceSettings, { DATABASE_URL, PADDOCK_CONFIG: 'x' });
    expect(problems).toEqual([expect.stringMatching(/^DATABASE_URL names several hosts, which/)]);
  });

  test.each([
    ['hostaddr=10.0.0.1', 'hostaddr'],
    ['load_balance_hosts=random&sslmode=require', 'load_balance_hosts'],
    ['target_session_attrs=read-only', 'target_session_attrs'],
    ['channel_binding=require&ssl=0', 'channel_binding, ssl'],
    ['sslnegotiation=direct', 'sslnegotiation'],
    ['client_encoding=latin1', 'client_encoding'],
    ['gssencmode=require', 'gssencmode'],
    ['sslcrl=/crl.pem', 'sslcrl'],
    ['dbname=y', 'dbname'],
  ])('refuses %s in a DSN by its name, for it would have no effect (A11)', (parameter, names) => {
    const DATABASE_URL = `postgresql://u:hunter2@db/x?${parameter}`;
    const { problems } = readSettings(serviceSettings, { DATABASE_URL, PADDOCK_CONFIG: 'x' });
    expect(problems).toEqual([expect.stringContaining(`DATABASE_URL has ${names}, which`)]);
  });

  test.each([
    'sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/a.crt&sslkey=/a.key&options=-c%20work_mem%3D9MB',
    'host=/run/postgresql&port=6432&user=u&password=p&passfile=/pgpass&application_name=a',
    'target_session_attrs=read-write&load_balance_hosts=disable&channel_binding=prefer',
    'connect_timeout=10&keepalives=1&keepalives_idle=5&tcp_user_timeout=9&client_encoding=UTF8',
    'gssencmode=prefer&sslnegotiation=postgres&sslsni=1',
  ])('takes a DSN with %s (A11)', (parameters) => {
    const DATABASE_URL = `postgresql://u:p@db/x?${parameters}`;
    const { problems } = readSettings(serviceSettings, { DATABASE_URL, PADDOCK_CONFIG: 'x' });
    expect(problems).toEqual([]);
  });

  test('takes DATABASE_URL, or POSTGRES_URL without it, and never shows a DSN (A11)', () => {
    expect(
      readSettings(serviceSettings, {
        POSTGRES_URL: 'postgres://u:hunter2@db/x\n',
      }).values.databaseUrl.reveal(),
    ).toBe('postgres://u:hunter2@db/x');
    const { problems } = readSettings(serviceSettings, {
      DATABASE_URL: 'mysql://u:hunter2@db/x',
      PADDOCK_SCHEMA: 'Prod',
      PADDOCK_CONFIG: 'x',
    });
    expect(problems.join('\n')).not.toContain('hunter2');
    expect(problems).toHaveLength(2);
  });
});

test('a secret shows its value only through reveal()', () => {
  const value = new Secret('hunter2');
  expect([JSON.stringify({ value }), inspect({ value }), String(value)].join()).not.toContain(
    'hunter2',
  );
  expect(value.reveal()).toBe('hunter2');
});
