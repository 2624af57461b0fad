import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { parseYaml, readYamlFile } from './yaml-file.ts';

const schema = z.strictObject({ pools: z.array(z.strictObject({ name: z.string() })) });

test('a good file is a value', () => {
  expect(parseYaml('p.yaml', 'pools:\n  - name: a\n', schema)).toEqual({ value: { pools: [{ name: 'a' }] }, problems: [] });
});

test('every problem names the file and the place', () => {
  expect(parseYaml('p.yaml', 'pools:\n  - name: 1\n  - nam: b\n', schema).problems).toEqual([
    expect.stringMatching(/^p\.yaml: pools\.0\.name: /),
    expect.stringMatching(/^p\.yaml: pools\.1\.name: /),
    expect.stringMatching(/^p\.yaml: pools\.1: .*nam/),
  ]);
});

test('a file that is no YAML or cannot be read is a problem, not a crash', () => {
  expect(parseYaml('p.yaml', 'pools: [', schema).problems[0]).toMatch(/^p\.yaml: .*line 1/);
  expect(readYamlFile('/nowhere/p.yaml', schema).problems[0]).toMatch(/^the configuration file \/nowhere\/p\.yaml cannot be read: /);
});
