import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { parse } from 'yaml';

/** A dashboard in dashboards.yaml. */
interface Described {
  readonly name: string;
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly unit?: string;
    readonly queries: Readonly<Record<string, string>>;
  }[];
}

const SOURCE = { type: 'prometheus', uid: '${source}' };
/** What stands for a choice of the reader in an expression. */
const CHOICES = {
  ENV: 'namespace=~"$namespace"',
  POOL: 'namespace=~"$namespace", pool=~"$pool"',
} as const;

const described = parse(
  readFileSync(join(import.meta.dirname, 'dashboards.yaml'), 'utf8'),
) as Described[];

/** The dashboards for Grafana, by their files: its own SDK builds them. */
export const dashboardFiles = (): Record<string, string> =>
  Object.fromEntries(
    described.map((one) => [
      `deploy/helm/paddock/files/dashboards/${one.name}.json`,
      linesOf(dashboardOf(one)),
    ]),
  );

function dashboardOf({ name, title, panels }: Described): object {
  const dashboard = new DashboardBuilder(title)
    .uid(`paddock-${name}`)
    .tags(['paddock'])
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('1m')
    .withVariable(new DatasourceVariableBuilder('source').label('Prometheus').type('prometheus'))
    .withVariable(valuesOf('namespace', 'paddock_events_total'));
  if (panels.some(({ queries }) => Object.values(queries).some((query) => query.includes('POOL'))))
    dashboard.withVariable(valuesOf('pool', `paddock_workers{${CHOICES.ENV}}`));
  for (const [nth, panel] of panels.entries()) dashboard.withPanel(panelOf(panel).id(nth + 1));
  return dashboard.build();
}

/** The values of a label, to choose from. All of them fit also where there is no such label. */
const valuesOf = (label: string, series: string) =>
  new QueryVariableBuilder(label)
    .datasource(SOURCE)
    .query(`label_values(${series}, ${label})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .includeAll(true)
    .allValue('.*')
    .current({ text: 'All', value: '$__all' });

function panelOf({ title, unit = 'short', queries }: Described['panels'][number]) {
  const panel = new PanelBuilder()
    .title(title)
    .datasource(SOURCE)
    .unit(unit)
    .min(0)
    .span(12)
    .height(8)
    .legend(new VizLegendOptionsBuilder().showLegend(true))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi));
  for (const [nth, [legend, expression]] of Object.entries(queries).entries())
    panel.withTarget(
      new DataqueryBuilder()
        .refId('ABCD'.charAt(nth))
        .expr(withChoices(expression).trim())
        .legendFormat(legend),
    );
  return panel;
}

const withChoices = (expression: string): string =>
  expression.replaceAll(/\b(ENV|POOL)\b/g, (choice) => CHOICES[choice as 'ENV' | 'POOL']);

/** JSON with a line for each field, and for each panel. */
const linesOf = (dashboard: object): string => {
  const lines = Object.entries(dashboard).map(([key, value]) =>
    key === 'panels'
      ? `"panels": [\n${(value as object[]).map((panel) => JSON.stringify(panel)).join(',\n')}\n]`
      : `${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
};
