import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  CHART,
  type ChartObject,
  HELM,
  type Release,
  helmTemplate,
  objectsIn,
  onPath,
  podsOf,
  runHelm,
} from '@paddock/testing/render-chart';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DEPLOYED, EXAMPLES, MATRIX } from '../scenes/chart-releases.scene.ts';

/** The name of the migration's Job ends in a digest of its pod. */
const nameOf = ({ kind, metadata }: ChartObject): string =>
  `${kind} ${metadata.namespace}/${metadata.name.replace(/(?<=-migrate)-\w{8}$/, '')}`;

/** Versions of helm differ in blank lines and order. */
const byName = (text: string): Record<string, ChartObject> =>
  Object.fromEntries(objectsIn(text).map((object) => [nameOf(object), object]));

/** The example that uses the most of the chart. */
const GOLDEN = 'external-secrets';
const FILE = join(DEPLOYED, 'golden', `${GOLDEN}.yaml`);

/** What the other examples do without, and what theirs has other values in. */
const MISSING = [
  'ConfigMap paddock/paddock-sign-in',
  ...['app', 'database', 'sign-in', 'webhook'].map(
    (name) => `ExternalSecret paddock/paddock-${name}`,
  ),
  'HTTPRoute paddock/paddock-console',
  'HTTPRoute paddock/paddock-webhook',
];
const CHANGED = [
  ...['console', 'ingress', 'reconciler', 'scheduler'].map(
    (name) => `Deployment paddock/paddock-${name}`,
  ),
  'Job paddock/paddock-migrate',
  'NetworkPolicy paddock/paddock-console',
  'NetworkPolicy runners/paddock.paddock',
  'Pod paddock/paddock-test-ping',
];
const CONFIG = 'ConfigMap paddock/paddock';
const OTHERS: Readonly<Record<string, { readonly own: string[]; readonly changed: string[] }>> = {
  'air-gapped': { own: [], changed: [CONFIG] },
  'cloudnative-pg': {
    own: ['Cluster paddock/paddock-db', 'Ingress paddock/paddock-webhook'],
    changed: [],
  },
  'enterprise-server': { own: ['Ingress paddock/paddock-webhook'], changed: [CONFIG] },
  kind: {
    own: ['NetworkPolicy', 'Secret', 'Service', 'StatefulSet'].map(
      (kind) => `${kind} paddock/paddock-evaluation`,
    ),
    changed: [CONFIG],
  },
};

const described = HELM === undefined ? describe.skip : describe;

described('the chart with the values of an example (H1; needs helm)', () => {
  test.each(EXAMPLES)('%s: helm lint --strict accepts it', (_name, { values = [] }) => {
    const files = values.flatMap((file) => ['--values', file]);
    expect(runHelm(['lint', '--strict', CHART, ...files])).toContain('0 chart(s) failed');
  });

  test(`${GOLDEN}: it renders deploy/helm/golden`, () => {
    const rendered = `${helmTemplate(releaseOf(GOLDEN)).trimEnd()}\n`;
    // `deploy/helm/check --write` sets it.
    if (process.env['PADDOCK_WRITE_GOLDEN'] === '1') writeFileSync(FILE, rendered);
    expect(byName(rendered)).toEqual(byName(readFileSync(FILE, 'utf8')));
  });

  test('each other example says what it renders besides', () => {
    const names = EXAMPLES.map(([name]) => name).filter((name) => name !== GOLDEN);
    expect(names).toEqual(Object.keys(OTHERS));
  });

  test.each(Object.entries(OTHERS))('%s: the rest is as in golden', (name, { own, changed }) => {
    const golden = byName(readFileSync(FILE, 'utf8'));
    const rendered = byName(helmTemplate(releaseOf(name)));
    const differing = Object.keys({ ...golden, ...rendered }).filter(
      (object) => !isDeepStrictEqual(golden[object], rendered[object]),
    );
    expect(differing.toSorted()).toEqual([...MISSING, ...CHANGED, ...own, ...changed].toSorted());
  });
});

const releaseOf = (name: string): Release => {
  const found = EXAMPLES.find(([example]) => example === name);
  if (found === undefined) throw new Error(`There is no example ${name}.`);
  return found[1];
};

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

interface Scored {
  readonly object_name: string;
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
  }[];
}

type Exceptions = Readonly<Record<string, readonly [objects: RegExp, reason: string]>>;

/** What kube-score may find in which objects, and why that is right. */
const EXCEPTIONS: Exceptions = {
  'container-resources': [/./, 'A limit of CPU slows a service when it has most to do.'],
  'container-ephemeral-storage-request-and-limit': [
    /./,
    'The root is read-only and no volume is scratch space: only logs take disk.',
  ],
  'container-image-pull-policy': [/./, 'The tag of a release never moves, and a digest cannot.'],
  'container-security-context-user-group-id': [
    /-evaluation$/,
    'The image of PostgreSQL has its user by the id 999.',
  ],
  'networkpolicy-targets-pod': [/\./, 'The scheduler makes the pods of runners, not the chart.'],
  'pod-networkpolicy, a warning': [
    /./,
    'Egress is open: the chart does not know where PostgreSQL, GitHub and the API server are.',
  ],
  'deployment-has-host-podantiaffinity, a warning': [
    /./,
    'Topology spread constraints keep replicas apart.',
  ],
};
const SWITCHED_OFF: Exceptions = {
  'pod-networkpolicy': [/./, 'The operator switched it off.'],
  'deployment-has-poddisruptionbudget': [/./, 'The operator switched it off.'],
};

const kubeScore = onPath('kube-score');
const scored = HELM === undefined || kubeScore === undefined ? describe.skip : describe;

scored('kube-score (H3; needs helm and kube-score)', () => {
  test.each([...EXAMPLES, ...MATRIX])(
    '%s: it finds nothing but the exceptions',
    (name, release) => {
      const input = helmTemplate(release);
      const { stdout } = spawnSync(kubeScore ?? '', ['score', '--output-format', 'json', '-'], {
        input,
        encoding: 'utf8',
      });
      const found = (JSON.parse(stdout) as Scored[]).flatMap(({ object_name: object, checks }) =>
        checks
          .filter(({ grade, skipped }) => !skipped && grade < 10)
          .map(({ check, grade }) => ({
            finding: grade < 5 ? check.id : `${check.id}, a warning`,
            object,
          })),
      );
      const allowed = name.startsWith('all off') ? { ...EXCEPTIONS, ...SWITCHED_OFF } : EXCEPTIONS;
      expect(
        found.filter(({ finding, object }) => allowed[finding]?.[0].test(object) !== true),
      ).toEqual([]);
    },
  );
});
