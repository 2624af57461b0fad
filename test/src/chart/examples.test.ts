import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  CHART,
  type ChartObject,
  HELM,
  type Release,
  helmTemplate,
  objectsIn,
  podsOf,
  runHelm,
} from '@paddock/testing/render-chart';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { DEPLOYED, EXAMPLES, configOf } from '../scenes/chart-releases.scene.ts';

/** The name of the migration's Job ends in a digest of its pod. */
const nameOf = ({ kind, metadata }: ChartObject): string =>
  `${kind} ${metadata.namespace}/${metadata.name.replace(/(?<=-migrate)-\w{8}$/, '')}`;

/** Versions of helm differ in blank lines and order. */
const byName = (text: string): Record<string, ChartObject> =>
  Object.fromEntries(objectsIn(text).map((object) => [nameOf(object), object]));

/** The example that uses the most of the chart. */
const GOLDEN = 'external-secrets';
const FILE = join(DEPLOYED, 'golden', `${GOLDEN}.yaml`);

const described = HELM === undefined ? describe.skip : describe;

described('the chart with the values of an example (H1; needs helm)', () => {
  test.each(EXAMPLES)('%s: helm lint --strict accepts it', (_name, { values = [] }) => {
    const files = values.flatMap((file) => ['--values', file]);
    expect(runHelm(['lint', '--strict', CHART, ...files])).toContain('0 chart(s) failed');
  });

  test('air-gapped: each image is of its mirror, the runners’ too', () => {
    const [, release] = EXAMPLES.find(([name]) => name === 'air-gapped') ?? [];
    const objects = objectsIn(helmTemplate({ ...(release as Release), set: {} }));
    const { pools } = parse(configOf(objects)) as { pools: { image?: string }[] };
    const images = podsOf(objects).flatMap(({ spec }) => spec.containers.map(({ image }) => image));
    expect(images.length).toBeGreaterThan(4);
    for (const image of [...images, ...pools.map((pool) => pool.image)])
      expect(image).toMatch(/^registry\.example\.com\/mirror\//);
  });

  test(`${GOLDEN}: it renders deploy/helm/golden`, () => {
    const release = EXAMPLES.find(([name]) => name === GOLDEN)?.[1];
    if (release === undefined) throw new Error(`There is no example ${GOLDEN}.`);
    const rendered = `${helmTemplate(release).trimEnd()}\n`;
    // `deploy/helm/check --write` sets it.
    if (process.env['PADDOCK_WRITE_GOLDEN'] === '1') writeFileSync(FILE, rendered);
    expect(byName(rendered)).toEqual(byName(readFileSync(FILE, 'utf8')));
  });
});

const ROOT = join(CHART, '../../..');
const README = readFileSync(join(CHART, 'README.md'), 'utf8');

/** What a reader sets before. */
const GIVEN: Readonly<Record<string, string>> = {
  APP_ID: '4242',
  WEBHOOK_SECRET: 'hush',
  ORGANISATION: 'our-company',
  REGISTRY: 'registry.test/paddock',
};

/** The words of each command, with variables replaced. Names of files of the project are absolute. */
const COMMANDS: readonly (readonly string[])[] = (/```sh\n(.*?)```/s.exec(README)?.[1] ?? '')
  .replaceAll(/\\\n\s*/g, '')
  .replaceAll(/\$(\w+)/g, (variable, name: string) => GIVEN[name] ?? variable)
  .trim()
  .split('\n')
  .map((line) =>
    line
      .replaceAll('"', '')
      .split(' ')
      .map((word) => (word.startsWith('deploy/') ? join(ROOT, word) : word)),
  );

const command = (...start: string[]): readonly string[] => {
  const found = COMMANDS.find((words) => start.every((word, nth) => words[nth] === word));
  if (found === undefined) throw new Error(`The README has no command ${start.join(' ')}`);
  return found;
};
const after = (words: readonly string[], flag: string): string | undefined =>
  words[words.indexOf(flag) + 1];

described('the commands of the chart’s README (H1; needs helm)', () => {
  let objects: readonly ChartObject[];
  beforeAll(() => {
    const [, , ...args] = command('helm', 'install');
    objects = objectsIn(runHelm(['template', ...args]));
  });

  test('make every namespace in which helm makes something', () => {
    const made = COMMANDS.filter(([, , what]) => what === 'namespace').map(([, , , name]) => name);
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(made));
  });

  test('make the Secret that the pods mount, with each key that the configuration names', () => {
    const words = command('kubectl', 'create', 'secret');
    const [, , , kind, name] = words;
    expect([kind, after(words, '-n')]).toEqual([
      'generic',
      after(command('helm', 'install'), '-n'),
    ]);
    const keys = words.flatMap((word) => /^--from-(?:literal|file)=([^=]+)/.exec(word)?.[1] ?? []);
    const mounted = JSON.stringify(podsOf(objects)).matchAll(/"secretName":"([^"]+)"/g);
    expect(new Set([...mounted].map(([, secret]) => secret))).toEqual(new Set([name]));
    const files = configOf(objects).matchAll(/file: \/etc\/paddock\/\w+\/(\S+)/g);
    expect(new Set([...files].map(([, key]) => key))).toEqual(new Set(keys));
  });

  test('name a release that has a test, the Service and port of the webhook, and a pool for the labels', () => {
    const release = after(command('helm', 'install'), 'install');
    expect(after(command('helm', 'test'), 'test')).toBe(release);
    const tests = objects.filter(
      ({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test',
    );
    expect(tests).toHaveLength(1);
    const [service = '', ports = ''] = command('kubectl', 'port-forward').slice(-2);
    const found = objects.find(
      ({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}` === service,
    );
    expect(found?.spec?.['ports']).toMatchObject([{ port: Number(ports.split(':')[1]) }]);
    const labels = /runs-on: \[([^\]]+)\]/.exec(README)?.[1]?.split(', ') ?? [''];
    const said = [`id: ${GIVEN['APP_ID']}`, `${GIVEN['ORGANISATION']}:`].concat(labels);
    for (const text of said) expect(configOf(objects)).toContain(text);
  });
});
