import { describe, expect, test } from '@jest/globals';
import type { Logger } from '@paddock/runtime/logger';
import { Secret } from '@paddock/runtime/secret';
import { databaseUrl, guardedDatabaseUrl } from './database-url.ts';

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
