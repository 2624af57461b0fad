import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import {
  CHART,
  type ChartObject,
  HELM,
  helmTemplate,
  objectsIn,
  type Release,
  runHelm,
} from '@paddock/testing/render-chart';
import { DEPLOYED, EXAMPLES } from '../scenes/chart-releases.scene.ts';

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
