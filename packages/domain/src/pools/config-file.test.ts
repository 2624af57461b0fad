import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileWith, REFUSED_FILES } from '../scenes/refused-files.scene.ts';
import { configFile, configFileToLoad, configJsonSchema, githubPart } from './config-file.ts';

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

  test('may lack encryption where the file says so, and be no other protocol even then', () => {
    expect(
      problemsOf({ apiUrl: 'http://github.example.com/api/v3', allowPlainHttp: true }),
    ).toEqual([]);
    expect(problemsOf({ apiUrl: 'ftp://github.example.com', allowPlainHttp: true })).toHaveLength(
      1,
    );
  });
});

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
])('the Apps of the file %j have %i problems', (apps, problems) => {
  expect(problemsOf({ apps })).toHaveLength(problems);
});

test('the schema for editors has the sections of the file, and no key that is refused', () => {
  const schema = configJsonSchema() as Record<string, object>;
  expect(Object.keys(schema['properties'] ?? {}).toSorted()).toEqual([
    'entities',
    'github',
    'notifications',
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

const problemsWith = (given: object): string[] =>
  configFileToLoad
    .safeParse(fileWith(given))
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

test.each(REFUSED_FILES)(
  'a file with %j is refused: %s (B4, C4, C10, H1, H3)',
  (given, problem) => {
    expect(problemsWith(given)).toEqual([expect.stringContaining(problem)]);
  },
);

const RULES = ['check-together', 'config-file', 'gate', 'pod-keys', 'pod-template', 'pool'];
const COMMENT = /^ *(?:\/\/|\/?\*).*$/gm;
const TEXT = /'([^'\n]*)'|"([^"\n]*)"|`([^`\n]*)`/g;

test('each sentence of the rules is said about such a file (H1)', () => {
  const said = REFUSED_FILES.flatMap(([given]) => problemsWith(given)).join('\n');
  const sentences = RULES.flatMap((name) => {
    const code = readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8');
    return Array.from(code.replaceAll(COMMENT, '').matchAll(TEXT), (found) =>
      found.slice(1).join(''),
    );
  }).filter((text) => /^[a-z$].* .* .*[^.]$/.test(text));
  expect(sentences.length).toBeGreaterThan(30);
  const unsaid = sentences.filter(
    (text) => !text.split(/\$\{.*(?:\}|$)/).every((part) => said.includes(part)),
  );
  expect(unsaid).toEqual([]);
});
