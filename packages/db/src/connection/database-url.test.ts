import { describe, expect, test } from '@jest/globals';
import type { Logger } from '@paddock/runtime/logger';
import { Secret } from '@paddock/runtime/secret';
import { useFolder } from '@paddock/testing/use-folder';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseUrl, guardedDatabaseUrl, separateParameters } from './database-url.ts';
import { readPassword } from './read-password.ts';

const settings = (url: string, sslMode?: string) => ({ databaseUrl: new Secret(url), sslMode });

function warningsOf(url: string, sslMode?: string): unknown[][] {
  const warnings: unknown[][] = [];
  guardedDatabaseUrl(settings(url, sslMode), {
    warn: (...said: unknown[]) => void warnings.push(said),
  } as unknown as Logger);
  return warnings;
}

describe('the URL of the database (A11)', () => {
  test('PGSSLMODE counts where the URL says nothing', () => {
    expect(databaseUrl(settings('postgresql://u:p%23@db.example/x', 'require'))).toBe(
      'postgresql://u:p%23@db.example/x?sslmode=require',
    );
    expect(databaseUrl(settings('postgresql://db.example/x?sslmode=disable', 'require'))).toBe(
      'postgresql://db.example/x?sslmode=disable',
    );
    expect(databaseUrl(settings('postgresql://db.example/x'))).toBe('postgresql://db.example/x');
  });

  test('so does PGPASSFILE, and it is read from the URL', () => {
    const given = { ...settings('postgresql://u@db.example/x?sslmode=disable'), passFile: '/pass' };
    expect(separateParameters(databaseUrl(given))).toMatchObject({
      dsn: 'postgresql://u@db.example/x',
      passfile: '/pass',
    });
  });

  test('warns of another host without sslmode, with its name and the text to write', () => {
    expect(warningsOf('postgresql://u:hunter2@db.example/x')).toEqual([
      [
        expect.stringContaining('write sslmode=verify-full into DATABASE_URL'),
        { host: 'db.example' },
      ],
    ]);
    expect(warningsOf('postgresql:///x?host=10.0.0.5')).toHaveLength(1);
  });

  test.each([
    ['postgresql://u@localhost/x', undefined],
    ['postgresql://u@127.0.0.1:5432/x', undefined],
    ['postgresql://u@[::1]/x', undefined],
    ['postgresql:///x?host=/run/postgresql', undefined],
    ['postgresql://u@%2Frun%2Fpostgresql/x', undefined],
    ['postgresql://u@db.example/x?sslmode=prefer', undefined],
    ['postgresql://u@db.example/x', 'verify-full'],
  ])('%s with PGSSLMODE %s is not', (url, sslMode) => {
    expect(warningsOf(url, sslMode)).toEqual([]);
  });
});

const folder = useFolder();
const root = join(folder, 'root.crt');
writeFileSync(root, 'the root certificate');

describe('a file of passwords (A11)', () => {
  const passwords = join(folder, 'pgpass');
  const at = { host: 'db', port: 5432, database: 'x', user: 'u:1' };

  test.each([
    ['db:5432:x:u\\:1:secret', 'secret'],
    ['# db:5432:x:u\\:1:no\nother:*:*:*:no\n*:*:*:*:first\r\n*:*:*:*:second', 'first'],
    [String.raw`*:*:*:*:a:b\c\\d`, String.raw`a:bc\d`],
  ])('%j', (text, password) => {
    writeFileSync(passwords, text);
    expect(readPassword(passwords, at)).toBe(password);
  });

  test('a file without the login, or that cannot be read, is named; PostgreSQL is not called away', () => {
    writeFileSync(passwords, '*:*:*:another:hunter2');
    for (const [file, why] of [
      [passwords, /pgpass has no line for db:5432:x:u:1/],
      [join(folder, 'absent'), /absent cannot be read: .*ENOENT/],
    ] as const) {
      const read = () => readPassword(file, at);
      expect(read).toThrow(why);
      expect(read).toThrow(expect.objectContaining({ code: '28P01' }));
      expect(read).not.toThrow('hunter2');
    }
  });
});

const CHAIN = { rejectUnauthorized: true, ca: 'the root certificate' };
const ANY_HOST = expect.any(Function);
const DSN = 'postgresql://u:p@db.example:5432/paddock?application_name=x';

describe('sslmode has the meaning that PostgreSQL documents (A11)', () => {
  test.each([
    ['', { rejectUnauthorized: false, isPreferred: true }],
    ['&sslmode=prefer', { rejectUnauthorized: false, isPreferred: true }],
    ['&sslmode=disable', false],
    ['&sslmode=require', { rejectUnauthorized: false }],
    [`&sslmode=require&sslrootcert=${root}`, { ...CHAIN, checkServerIdentity: ANY_HOST }],
    [`&sslmode=verify-ca&sslrootcert=${root}`, { ...CHAIN, checkServerIdentity: ANY_HOST }],
    [`&sslmode=verify-full&sslrootcert=${root}`, CHAIN],
    ['&sslmode=verify-full', { rejectUnauthorized: true }],
  ])('%s', (parameters, ssl) => {
    expect(separateParameters(`${DSN}${parameters}`)).toEqual({ dsn: DSN, ssl, options: '' });
  });

  test.each(['allow', 'no-verify', 'on'])('sslmode=%s is refused instead of guessed', (mode) => {
    expect(() => separateParameters(`${DSN}&sslmode=${mode}`)).toThrow(
      'use disable, prefer, require, verify-ca or verify-full',
    );
  });

  test('a root certificate that cannot be read is an error, not a weaker check', () => {
    expect(() =>
      separateParameters(`${DSN}&sslmode=verify-full&sslrootcert=${folder}/absent.crt`),
    ).toThrow(/sslrootcert of the database URL cannot be read: .*ENOENT/);
  });
});
