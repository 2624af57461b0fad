import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  CHART,
  type ChartObject,
  HELM,
  helmTemplate,
  objectsIn,
  runHelm,
} from '@paddock/testing/render-chart';
import { DEPLOYED, EXAMPLES } from '../scenes/chart-releases.scene.ts';

const placeOf = ({ kind, metadata }: ChartObject): string =>
  `${kind} ${metadata.namespace} ${metadata.name}`;

/** Versions of helm differ in blank lines and order. */
const sorted = (text: string): ChartObject[] =>
  objectsIn(text).toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));

const described = HELM === undefined ? describe.skip : describe;

described('the chart with the values of an example (H1; needs helm)', () => {
  test.each(EXAMPLES)('%s: helm lint --strict accepts it', (_name, { values = [] }) => {
    const files = values.flatMap((file) => ['--values', file]);
    expect(runHelm(['lint', '--strict', CHART, ...files])).toContain('0 chart(s) failed');
  });

  test.each(EXAMPLES)('%s: it renders deploy/helm/golden', (name, release) => {
    const golden = join(DEPLOYED, 'golden', `${name}.yaml`);
    const rendered = `${helmTemplate(release).trimEnd()}\n`;
    // `deploy/helm/check --write` sets it.
    if (process.env['PADDOCK_WRITE_GOLDEN'] === '1') writeFileSync(golden, rendered);
    expect(sorted(rendered)).toEqual(sorted(readFileSync(golden, 'utf8')));
  });
});
