import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import { describe, expect, test } from '@jest/globals';
import { CHART, HELM } from '@paddock/testing/render-chart';
import { dashboardFiles } from '../../../tools/dashboards.ts';
import { renderMonitoring } from '../scenes/chart-releases.scene.ts';
import { ROOT } from '../scenes/documented-metrics.scene.ts';
import { complaintsAbout } from '../scenes/promql.scene.ts';
import { PROMTOOL, runPromtool } from '../scenes/promtool.scene.ts';

/** As the types of Grafana's SDK have them. */
const dashboards = globSync('files/dashboards/*.json', { cwd: CHART })
  .toSorted()
  .map((path) => ({
    file: basename(path),
    board: JSON.parse(readFileSync(join(CHART, path), 'utf8')) as Dashboard,
  }));

const panels = dashboards.flatMap(({ file, board }) =>
  (board.panels as Panel[]).map((panel) => ({
    file,
    title: panel.title ?? '',
    queries: panel.targets as unknown as Dataquery[],
  })),
);

test.each(panels)(
  '$file: "$title" reads what is there, and says what its lines are (H5)',
  (panel) => {
    expect(panel.queries.flatMap(({ expr }) => complaintsAbout(expr, new Map()))).toEqual([]);
    for (const { legendFormat = '', expr } of panel.queries) {
      expect(legendFormat).not.toBe('');
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        expect(expr).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`));
    }
  },
);

test('they are those of tools/dashboards.yaml, and docs/dashboards.md names each (H5)', () => {
  expect(dashboards.map(({ file }) => file)).toEqual(
    Object.keys(dashboardFiles())
      .map((path) => basename(path))
      .toSorted(),
  );
  const page = readFileSync(join(ROOT, 'docs/dashboards.md'), 'utf8');
  for (const { board } of dashboards)
    expect(page).toContain(board.title?.replace('Paddock / ', ''));
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain('](docs/dashboards.md)');
});

const withPromtool = PROMTOOL === undefined ? describe.skip : describe;
withPromtool('promtool (skipped where there is none)', () => {
  test('can parse each query (H5)', () => {
    const rules = panels.flatMap(({ file, queries }) =>
      queries.map(({ expr }) => ({ record: 'query', expr, labels: { file, expr } })),
    );
    const { status, printed } = runPromtool(['check', 'rules'], {
      'queries.json': JSON.stringify({ groups: [{ name: 'queries', rules }] }),
    });
    expect({ status, printed }).toMatchObject({ status: 0 });
  });
});

const made = (values: object) =>
  renderMonitoring({ dashboards: values }).find(({ metadata }) =>
    metadata.name.endsWith('-dashboards'),
  );

const withHelm = HELM === undefined ? describe.skip : describe;
withHelm('the chart (needs helm)', () => {
  test('makes a ConfigMap of them only if that is wanted, with the label of the sidecar (H5)', () => {
    expect(made({})).toBeUndefined();
    const map = made({ enabled: true, label: 'board', annotations: { folder: 'CI' } });
    expect(map?.metadata).toMatchObject({ labels: { board: '1' }, annotations: { folder: 'CI' } });
    const data = map?.['data'] as Record<string, string>;
    expect(Object.values(data).map((text) => JSON.parse(text) as unknown)).toEqual(
      dashboards.map(({ board }) => board),
    );
  });
});
