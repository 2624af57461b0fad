import { describe, expect, test } from '@jest/globals';
import { configFile } from './config-file.ts';

const problemsOf = (github: object): string[] =>
  configFile.safeParse({ github: { apps: [{ id: 1 }], ...github }, pools: [], entities: {} }).error?.issues.map(({ message }) => message) ??
  [];

describe('the address of GitHub, to which tokens are sent (H1)', () => {
  test.each(['https://github.example.com/api/v3', 'http://127.0.0.1:8080', 'http://127.1.2.3', 'http://localhost:1/', 'http://[::1]:80'])(
    'may be %s',
    (apiUrl) => {
      expect(problemsOf({ apiUrl })).toEqual([]);
    },
  );

  test.each([
    'http://github.example.com/api/v3',
    'http://10.0.0.7',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://127.0.0.1@example.com',
    'ftp://127.0.0.1',
  ])('may not be %s', (apiUrl) => {
    expect(problemsOf({ apiUrl })).toEqual([expect.stringContaining('must begin with https://')]);
  });

  test('may lack encryption where the file says so, and be no other protocol even then', () => {
    expect(problemsOf({ apiUrl: 'http://github.example.com/api/v3', allowPlainHttp: true })).toEqual([]);
    expect(problemsOf({ apiUrl: 'ftp://github.example.com', allowPlainHttp: true })).toHaveLength(1);
  });
});
