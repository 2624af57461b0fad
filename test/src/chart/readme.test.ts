import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  CHART,
  type ChartObject,
  HELM,
  objectsIn,
  podsOf,
  runHelm,
} from '@paddock/testing/render-chart';

const ROOT = join(CHART, '../../..');
const README = readFileSync(join(CHART, 'README.md'), 'utf8');

/** What a reader sets before. */
const GIVEN: Readonly<Record<string, string>> = {
  APP_ID: '4242',
  WEBHOOK_SECRET: 'hush',
  ORGANISATION: 'our-company',
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

const described = HELM === undefined ? describe.skip : describe;

described('the commands of the chart’s README (H1; needs helm)', () => {
  let objects: readonly ChartObject[];
  beforeAll(() => {
    const [, , ...args] = command('helm', 'install');
    objects = objectsIn(runHelm(['template', ...args]));
  });

  test('are all known here, and say what their variables are', () => {
    expect(
      COMMANDS.map(([program, ...words]) => `${program} ${words.slice(0, 2).join(' ')}`),
    ).toEqual([
      'kind create cluster',
      'kubectl create namespace',
      'kubectl create namespace',
      'kubectl create secret',
      'npx -y pnpm@12',
      `helm install paddock`,
      'helm test paddock',
      'kubectl port-forward -n',
    ]);
    expect(COMMANDS.flat().filter((word) => word.includes('$'))).toEqual([]);
    for (const name of Object.keys(GIVEN)) expect(README).toContain(`\`${name}\``);
  });

  // `helm template` above has refused unknown flags.
  test('helm install names files that exist', () => {
    const files = command('helm', 'install').filter((word) => word.startsWith('/'));
    expect(files).toHaveLength(2);
    for (const file of files) expect(existsSync(file)).toBe(true);
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
    const files = configuration(objects).matchAll(/file: \/etc\/paddock\/\w+\/(\S+)/g);
    expect(new Set([...files].map(([, key]) => key))).toEqual(new Set(keys));
  });

  test('put the App and the organisation into the configuration', () => {
    expect(configuration(objects)).toContain(`id: ${GIVEN['APP_ID']}`);
    expect(configuration(objects)).toContain(`${GIVEN['ORGANISATION']}:\n`);
  });

  test('name a release that has a test, and the Service and port of the webhook', () => {
    const release = after(command('helm', 'install'), 'install');
    expect(after(command('helm', 'test'), 'test')).toBe(release);
    expect(
      objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test'),
    ).toHaveLength(1);
    const [service = '', ports = ''] = command('kubectl', 'port-forward').slice(-2);
    const found = objects.find(
      ({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}` === service,
    );
    expect(found?.spec?.['ports']).toMatchObject([{ port: Number(ports.split(':')[1]) }]);
  });

  test('lead to a pool for the labels that the README’s workflow names', () => {
    const labels = /runs-on: \[([^\]]+)\]/.exec(README)?.[1]?.split(', ') ?? [];
    expect(labels).not.toEqual([]);
    for (const label of labels) expect(configuration(objects)).toContain(`- ${label}\n`);
  });
});

function configuration(objects: readonly ChartObject[]): string {
  const data = objects.find(({ kind }) => kind === 'ConfigMap')?.['data'];
  return (data as Record<string, string>)['paddock.yaml'] ?? '';
}
