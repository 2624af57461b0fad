import { describe, expect, test } from '@jest/globals';
import { configFile, configJsonSchema, githubPart } from './config-file.ts';

const problemsOf = (github: object): string[] =>
  configFile
    .safeParse({ github: { apps: [{ id: 1 }], ...github }, pools: [], entities: {} })
    .error?.issues.map(({ message }) => message) ?? [];

describe('the address of GitHub, to which tokens are sent (H1)', () => {
  test.each([
    'https://github.example.com/api/v3',
    'http://127.0.0.1:8080',
    'http://127.1.2.3',
    'http://127.10.200.30',
    'http://localhost:1/',
    'http://[::1]:80',
  ])('may be %s', (apiUrl) => {
    expect(problemsOf({ apiUrl })).toEqual([]);
  });

  test.each([
    'http://github.example.com/api/v3',
    'http://10.0.0.7',
    'http://mylocalhost',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://127.0.0.1@example.com',
    'ftp://127.0.0.1',
  ])('may not be %s', (apiUrl) => {
    expect(problemsOf({ apiUrl })).toEqual([expect.stringContaining('must begin with https://')]);
  });

  test('is reported with its place in the file', () => {
    const content = {
      github: { apps: [{ id: 1 }], apiUrl: 'http://example.com' },
      pools: [],
      entities: {},
    };
    expect(configFile.safeParse(content).error?.issues).toMatchObject([
      { path: ['github', 'apiUrl'] },
    ]);
  });

  test('may lack encryption where the file says so, and be no other protocol even then', () => {
    expect(
      problemsOf({ apiUrl: 'http://github.example.com/api/v3', allowPlainHttp: true }),
    ).toEqual([]);
    expect(problemsOf({ apiUrl: 'ftp://github.example.com', allowPlainHttp: true })).toHaveLength(
      1,
    );
  });
});

describe('the Apps of the file', () => {
  test.each([
    [[{ id: 1 }], 0],
    [[{ id: 1 }, { id: 2 }], 0],
    [[{ id: 1 }, { id: 1 }], 1],
    [[], 1],
    [[{ id: 0 }], 1],
    [[{ id: 1, webhookSecret: { env: 'SECRET' }, privateKey: { file: '/key.pem' } }], 0],
    [[{ id: 1, webhookSecret: { env: '' } }], 1],
    [[{ id: 1, webhookSecret: { file: '' } }], 1],
    [[{ id: 1, webhookSecret: {} }], 1],
    [[{ id: 1, webhookSecret: { env: 'A', file: 'b' } }], 1],
    [[{ id: 1, webhookSecret: 'the secret itself' }], 1],
  ])('%j have %i problems', (apps, problems) => {
    expect(problemsOf({ apps })).toHaveLength(problems);
  });
});

test('reports a key of a pool at the top of the file with the place where it belongs, but not the sections', () => {
  const content = { github: { apps: [{ id: 1 }] }, pools: [], entities: {}, image: 'runner:1' };
  expect(configFile.safeParse(content).error?.issues).toMatchObject([
    { path: ['image'], message: expect.stringContaining('item of pools') },
  ]);
});

test('the schema for editors has the sections of the file, and no key that is refused', () => {
  const schema = configJsonSchema() as Record<string, object>;
  expect(Object.keys(schema['properties'] ?? {}).toSorted()).toEqual([
    'entities',
    'github',
    'pools',
  ]);
  expect(schema).toMatchObject({
    $schema: expect.stringContaining('draft-07'),
    title: expect.stringContaining('Paddock'),
    patternProperties: { '^x-': {} },
    // Keys with a default may be left out of the file.
    properties: { github: { required: ['apps'] } },
  });
});

test('the section of GitHub is read alone, and must be there (H1)', () => {
  const github = { apps: [{ id: 1 }] };
  expect(githubPart.parse({ github, pools: 'broken' }).github.apps).toHaveLength(1);
  expect(githubPart.safeParse({ pools: [] }).success).toBe(false);
});
