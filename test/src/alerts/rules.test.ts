import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { LIMITS_BY_PEOPLE, WAIT_REASONS } from '@paddock/domain/matching/wait-reasons';
import { HELM } from '@paddock/testing/render-chart';
import { parse } from 'yaml';
import { RULES, type Rule, rulesOf } from '../scenes/alert-rules.scene.ts';
import { renderMonitoring } from '../scenes/chart-releases.scene.ts';
import { ROOT } from '../scenes/documented-metrics.scene.ts';
import { complaintsAbout, labelsOf } from '../scenes/promql.scene.ts';

const rules = rulesOf(RULES);
const alerts = rules.filter((rule) => rule.alert !== undefined);
const recorded = new Map(
  rules.flatMap(({ record, expr }) => (record === undefined ? [] : [[record, labelsOf(expr)]])),
);

test.each(rules)('$alert$record reads only metrics and labels that are there (H5)', ({ expr }) => {
  expect(complaintsAbout(expr, recorded)).toEqual([]);
});

/** `PaddockGoodNews` has the page good-news.md. */
const pageOf = (alert: string): string =>
  `${alert
    .replace('Paddock', '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-')
    .toLowerCase()}.md`;

test.each(alerts)('$alert says what is wrong and what to do, and links its page (H5)', (rule) => {
  const { alert = '', expr, labels, annotations } = rule;
  expect(labels).toEqual({ severity: expect.stringMatching(/^(critical|warning|info)$/) });
  const { summary = '', description = '', runbook_url: url, ...others } = annotations ?? {};
  expect(others).toEqual({});
  for (const text of [summary, description]) expect(text).toMatch(/^[^a-z].{30,}\.$/);
  const made = [...labelsOf(expr), ...(/paddock:/.test(expr) ? ['namespace'] : [])];
  for (const [, label = ''] of `${summary} ${description}`.matchAll(/\$labels\.(\w+)/g))
    expect(made).toContain(label);
  expect(url).toBe(`https://github.com/OWNER/REPOSITORY/blob/main/docs/alerts/${pageOf(alert)}`);
  const page = readFileSync(join(ROOT, 'docs/alerts', pageOf(alert)), 'utf8');
  expect(page.match(/^#+ .*$/gm)).toEqual([
    `# ${alert}`,
    '## What users see',
    '## How to look',
    '## What to do',
    '## When it ends by itself',
  ]);
  expect(page.split('\n').length - 1).toBeLessThanOrEqual(40);
});

test('only waits that people want leave a job out of PaddockJobsStarved (H5)', () => {
  const starved = alerts.find(({ alert }) => alert === 'PaddockJobsStarved');
  const [, pattern = ''] = /reason!~"([^"]+)"/.exec(starved?.expr ?? '') ?? [];
  const leftOut = new RegExp(`^(?:${pattern})$`);
  const reasons = Object.keys(WAIT_REASONS).filter((reason) => leftOut.test(reason));
  expect(reasons.toSorted()).toEqual([...LIMITS_BY_PEOPLE].toSorted());
});

test('each page has its alert, and docs/alerts.md lists them all, by severity (H5)', () => {
  const pages = globSync('*.md', { cwd: join(ROOT, 'docs/alerts') });
  const names = alerts.map(({ alert = '' }) => alert);
  expect(pages.toSorted()).toEqual(names.map(pageOf).toSorted());
  const list = readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8');
  const rows = [...list.matchAll(/^\| \[(\w+)\]\(alerts\/(\S+)\) +\| (\w+)/gm)];
  expect(rows.map(([, ...row]) => row)).toEqual(
    alerts.map(({ alert = '', labels }) => [alert, pageOf(alert), labels?.['severity']]),
  );
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain('](docs/alerts.md)');
});

const ruleObjects = (values: object) =>
  renderMonitoring({ rules: values }).filter(({ kind }) => kind === 'PrometheusRule');

(HELM === undefined ? describe.skip : describe)('the chart (needs helm)', () => {
  test('makes a PrometheusRule of the rules only if that is wanted, word for word (H5)', () => {
    expect(ruleObjects({})).toEqual([]);
    const [made] = ruleObjects({ enabled: true, labels: { release: 'prometheus' } });
    expect(made?.metadata.labels).toMatchObject({ release: 'prometheus' });
    expect(made?.spec).toEqual(RULES);
  });

  test('leaves out alerts by name, and names your copy of the pages (H5)', () => {
    const [made] = ruleObjects({
      enabled: true,
      without: ['PaddockJobsStarved'],
      runbooks: 'https://docs.test/alerts/',
    });
    const left = rulesOf(made?.spec as unknown as typeof RULES);
    expect(left.map(nameOf)).toEqual(
      rules.map(nameOf).filter((name) => name !== 'PaddockJobsStarved'),
    );
    for (const { annotations } of left)
      expect(annotations?.['runbook_url'] ?? 'https://docs.test/alerts/a.md').toMatch(
        /^https:\/\/docs\.test\/alerts\/[a-z-]+\.md$/,
      );
  });
});

const nameOf = ({ alert, record }: Rule): string | undefined => alert ?? record;

test('a complaint names what is not there', () => {
  const expression =
    'sum by (pol) (paddock_jobs_waiting{kind="a"} + paddock_events_total{event="a|b.*"} + paddock_no)';
  expect(complaintsAbout(expression, new Map())).toEqual([
    'paddock_jobs_waiting has no label kind.',
    'There is no event a.',
    'There is no metric paddock_no.',
    'Nothing here has the label pol.',
  ]);
});

test('the example of docs/alerts.md has values that the chart knows', () => {
  const page = readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8');
  const values = parse(/```yaml\n(.*?)```/s.exec(page)?.[1] ?? '') as { monitoring: object };
  expect(values.monitoring).toMatchObject({ rules: { without: [expect.any(String)] } });
  if (HELM === undefined) return;
  const made = renderMonitoring(values.monitoring);
  expect(made.filter(({ kind }) => /PodMonitor|PrometheusRule/.test(kind))).toHaveLength(2);
});
