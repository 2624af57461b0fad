import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { parseYaml } from './yaml-file.ts';

const schema = z.strictObject({ pools: z.array(z.strictObject({ name: z.string() })) });

test('names the file and the place of every problem, calls a missing key missing, and suggests the right name for a typing error (H1)', () => {
  const nested = z.strictObject({
    entities: z.record(z.string(), z.strictObject({ maxWorkers: z.number(), weight: z.number() })),
  });
  const entity = z.strictObject({
    pools: z.array(z.strictObject({ name: z.string() }).transform(({ name }) => name)),
  });
  expect(parseYaml('p.yaml', 'pools:\n  - nmae: b\n', entity).problems).toEqual([
    'p.yaml: pools.0.name: is missing',
    'p.yaml: pools.0: there is no key `nmae` here; did you mean `name`?',
  ]);
  expect(
    parseYaml(
      'p.yaml',
      'entities:\n  acme: { maxWorker: 1, colour: red, maxWorkers: 1, weight: 1 }\n',
      nested,
    ).problems,
  ).toEqual([
    'p.yaml: entities.acme: there is no key `maxWorker` here; did you mean `maxWorkers`?',
    'p.yaml: entities.acme: there is no key `colour` here',
  ]);
});

test.each([
  ['list: linux', 'list: must be a list, and is text'],
  ['name: 5', 'name: must be text, and is a number: put it in quotes'],
  ['name: ""', 'name: must not be empty'],
  ['name: abcdef', 'name: must have a length of at most 5'],
  ['size: 0', 'size: must be at least 1'],
  ['size: "5"', 'size: must be a number, and is text: leave out the quotes'],
  ['on: "true"', 'on: must be true or false, and is text: leave out the quotes'],
  ['whole: 1.5', 'whole: must be a whole number'],
  ['mode: c', 'mode: must be a or b'],
  ['names: [acme]', 'names: must be a mapping, and is a list'],
])(
  'describes the problem of "%s" in the words of YAML, without the value (H1)',
  (text, problem) => {
    const any = z.strictObject({
      list: z.array(z.string()).max(2).optional(),
      name: z.string().min(1).max(5).optional(),
      size: z.number().min(1).max(9).optional(),
      whole: z.int().optional(),
      mode: z.enum(['a', 'b']).optional(),
      on: z.boolean().optional(),
      names: z.record(z.string(), z.number()).optional(),
    });
    expect(parseYaml('p.yaml', text, any).problems).toEqual([`p.yaml: ${problem}`]);
  },
);

test.each([
  ['pools:\n\t- name: a', /^line 2: Tabs are not allowed/],
  ['pools: []\npools: []', /^line 2: Map keys must be unique/],
  ['pools:\n  - { a: 1,\n      a: 2 }', /^line 3: Map keys must be unique/],
  ['pools: []\n---\na: 1', /^line 2: a second document begins/],
  [`pools: *${'x'.repeat(9_000)}`, /^Unresolved alias .*x{200}…$/],
  ['pools: *nope', /^Unresolved alias .*nope/],
  [`a: ${' '.repeat(600_000)}`, /^there are more than 524288 characters/],
  [
    `a: &a0 [x]\n${Array.from({ length: 9 }, (_, n) => `b${n}: &a${n + 1} [${Array(9).fill(`*a${n}`).join()}]`).join('\n')}\npools: *a9`,
    /^Excessive alias count/,
  ],
])('gives the problem of %#, with its line where there is one (H1)', (text, problem) => {
  const [said = '', ...others] = parseYaml('p.yaml', text, schema).problems;
  expect(said.replace('p.yaml: ', '')).toMatch(problem);
  expect(others).toEqual([]);
});

test('follows aliases and merge keys, also hundreds of one anchor', () => {
  const shared = z.strictObject({
    pools: z.array(z.strictObject({ name: z.string(), size: z.number() })),
  });
  const merged = 'pools:\n  - &base { name: a, size: 1 }\n  - { <<: *base, name: b }\n';
  expect(parseYaml('p.yaml', merged, shared).value?.pools).toEqual([
    { name: 'a', size: 1 },
    { name: 'b', size: 1 },
  ]);
  const many = `pools:\n  - &a { name: a, size: 1 }\n${'  - *a\n'.repeat(500)}`;
  expect(parseYaml('p.yaml', many, shared).value?.pools).toHaveLength(501);
});

test('a mapping may have as many keys as fit, and the one that repeats is named', () => {
  // Half a minute and more if each is held against all before it.
  const keys = Array.from({ length: 45_000 }, (_, n) => `k${n}: 1`).join();
  const all = z.strictObject({ all: z.record(z.string(), z.number()) });
  expect(parseYaml('p.yaml', `all: {${keys},\n  k7: 1}`, all).problems).toEqual([
    'p.yaml: line 2: Map keys must be unique',
  ]);
});
