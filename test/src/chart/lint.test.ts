import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { HELM, renderChart, runHelm } from '@paddock/testing/render-chart';

const DEPLOYED = join(import.meta.dirname, '../../../deploy/helm');
const EXAMPLES = globSync('examples/*.yaml', { cwd: DEPLOYED }).toSorted();

const described = HELM === undefined ? describe.skip : describe;

described('the chart (H1; needs helm)', () => {
  test.each(EXAMPLES)('helm lint --strict accepts %s', (example) => {
    const chart = join(DEPLOYED, 'paddock');
    expect(runHelm(['lint', '--strict', chart, '--values', join(DEPLOYED, example)])).toContain(
      '0 chart(s) failed',
    );
  });

  test.each(EXAMPLES)('%s renders a Deployment for each service', (example) => {
    const objects = renderChart({
      release: 'paddock',
      namespace: 'paddock',
      values: [join(DEPLOYED, example)],
    });
    expect(
      objects.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name),
    ).toEqual(['paddock-ingress', 'paddock-reconciler', 'paddock-scheduler']);
  });
});
