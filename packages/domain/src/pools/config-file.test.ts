import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { configFile, configJsonSchema, githubPart } from './config-file.ts';
import { isOfficialImage } from './official-image.ts';
import { quantity, readQuantity } from './quantity.ts';

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

describe('a quantity', () => {
  test.each<[string | number, number]>([
    [0, 0],
    ['0', 0],
    ['5n', 5e-9],
    ['5u', 5e-6],
    ['.25', 0.25],
    ['12.5', 12.5],
    ['1e-10', 1e-10],
    ['1e12', 1e12],
    [4, 4],
    [0.5, 0.5],
    ['500m', 0.5],
    ['1100m', 1.1],
    ['2', 2],
    ['1.', 1],
    ['.5', 0.5],
    ['1e3', 1_000],
    ['2E', 2e18],
    ['2E2', 200],
    ['16G', 16e9],
    ['16Gi', 16 * 1024 ** 3],
    ['1.5Ki', 1_536],
    ['+3', 3],
  ])('%j is %d', (written, amount) => {
    expect(quantity.parse(written)).toBe(written);
    expect(readQuantity(written)).toBe(amount);
  });

  test.each([
    '',
    '16GB',
    '16gb',
    '2 cores',
    '-1',
    -1,
    '1Mib',
    '1K',
    '1mi',
    '1 Gi',
    'Gi',
    '1.2.3',
    Number.NaN,
    true,
    null,
    [1],
  ])('%j is none', (written) => {
    expect(quantity.safeParse(written).error?.issues).toEqual([
      expect.objectContaining({ message: expect.stringContaining('must be a quantity') }),
    ]);
    expect(readQuantity(written)).toBeUndefined();
  });

  test('thousandths are the number that is written with a point', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), (thousandths) => {
        expect(readQuantity(`${thousandths}m`)).toBe(Number((thousandths / 1_000).toFixed(3)));
      }),
    );
  });
});

test.each([
  ['ghcr.io/actions/actions-runner', true],
  ['ghcr.io/actions/actions-runner:2.336.0', true],
  ['mirror.example.com/ghcr/actions/actions-runner@sha256:abc', true],
  ['actions/actions-runner:latest', true],
  ['ghcr.io/acme/actions-runner:1', false],
  ['ghcr.io/transactions/actions-runner:1', false],
  ['ghcr.io/actions/actions-runner-dind:1', false],
])('%s is the official image: %s', (image, isOfficial) => {
  expect(isOfficialImage(image)).toBe(isOfficial);
});

test('the section of GitHub is read alone, and must be there (H1)', () => {
  const github = { apps: [{ id: 1 }] };
  expect(githubPart.parse({ github, pools: 'broken' }).github.apps).toHaveLength(1);
  expect(githubPart.safeParse({ pools: [] }).success).toBe(false);
});
