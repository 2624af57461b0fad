import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

type Part = Readonly<Record<string, unknown>>;

interface Described {
  readonly name: string;
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly unit?: string;
    readonly queries: Readonly<Record<string, string>>;
  }[];
}

/** What stands for a choice of the reader in an expression. */
const CHOICES = {
  ENV: 'namespace=~"$namespace"',
  POOL: 'namespace=~"$namespace", pool=~"$pool"',
} as const;

const described = parse(readFileSync(join(import.meta.dirname, 'dashboards.yaml'), 'utf8'), {
  merge: true,
}) as Readonly<Record<'dashboard' | 'source' | 'values' | 'panel', Part>> & {
  readonly dashboards: readonly Described[];
};

/** The dashboards for Grafana, by their files: JSON with a line for each field, and for each panel. */
export const dashboardFiles = (): Record<string, string> =>
  Object.fromEntries(
    described.dashboards.map((one) => {
      const lines = Object.entries({ ...described.dashboard, ...variantOf(one) }).map(
        ([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`,
      );
      const panels = one.panels.map((panel, nth) => JSON.stringify(panelOf(panel, nth)));
      const text = `{\n${lines.join(',\n')},\n"panels": [\n${panels.join(',\n')}\n]\n}\n`;
      return [`deploy/helm/paddock/files/dashboards/${one.name}.json`, text];
    }),
  );

function variantOf({ name, title, panels }: Described): Part {
  const isOfPool = panels.some(({ queries }) => Object.values(queries).join().includes('POOL'));
  const list = [
    described.source,
    valuesOf('namespace', 'paddock_events_total'),
    ...(isOfPool ? [valuesOf('pool', `paddock_workers{${CHOICES.ENV}}`)] : []),
  ];
  return { templating: { list }, title, uid: `paddock-${name}` };
}

/** The values of a label, to choose from. */
const valuesOf = (name: string, series: string): Part => ({
  ...described.values,
  name,
  query: `label_values(${series}, ${name})`,
});

/** Two beside each other. */
const panelOf = ({ title, unit = 'short', queries }: Described['panels'][number], nth: number) => ({
  ...described.panel,
  id: nth + 1,
  title,
  fieldConfig: { defaults: { custom: {}, unit, min: 0 }, overrides: [] },
  gridPos: { h: 8, w: 12, x: 12 * (nth % 2), y: 8 * Math.floor(nth / 2) },
  targets: Object.entries(queries).map(([legendFormat, expression], which) => ({
    expr: withChoices(expression).trim(),
    refId: 'ABCD'.charAt(which),
    legendFormat,
  })),
});

const withChoices = (expression: string): string =>
  expression.replaceAll(/\b(ENV|POOL)\b/g, (choice) => CHOICES[choice as 'ENV' | 'POOL']);
