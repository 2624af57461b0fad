import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { separateParameters } from './tls.ts';

const folder = mkdtempSync(join(tmpdir(), 'paddock-tls-'));
const root = join(folder, 'root.crt');
writeFileSync(root, 'the root certificate');
afterAll(() => rmSync(folder, { recursive: true }));

const DSN = 'postgresql://u:p@db.example:5432/paddock?application_name=x';

describe('sslmode has the meaning that PostgreSQL documents (A11)', () => {
  test.each([
    ['', { rejectUnauthorized: false, isPreferred: true }],
    ['&sslmode=prefer', { rejectUnauthorized: false, isPreferred: true }],
    ['&sslmode=disable', false],
    ['&sslmode=require', { rejectUnauthorized: false }],
    [
      `&sslmode=require&sslrootcert=${root}`,
      {
        rejectUnauthorized: true,
        ca: 'the root certificate',
        checkServerIdentity: expect.any(Function),
      },
    ],
    [
      `&sslmode=verify-ca&sslrootcert=${root}`,
      {
        rejectUnauthorized: true,
        ca: 'the root certificate',
        checkServerIdentity: expect.any(Function),
      },
    ],
    [
      `&sslmode=verify-full&sslrootcert=${root}`,
      { rejectUnauthorized: true, ca: 'the root certificate' },
    ],
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
