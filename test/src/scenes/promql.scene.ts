import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documented, metricOf, ROOT } from './documented-metrics.scene.ts';

/** Of each scrape, and of each alert. */
const EVERYWHERE = ['namespace', 'instance'];
const ALERT = ['alertname', 'alertstate', 'severity'];

const EVENTS = globSync('{apps,packages}/*/src/**/{,*-}{events,follow-apps}.ts', { cwd: ROOT })
  .map((file) => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n');

/** The values of a matcher that names some, as `a|b`. */
const namesIn = (value: string): string[] => value.split('|').filter((name) => /^\w+$/.test(name));

/**
 * What is wrong with an expression: metrics, labels and events that Paddock does not have.
 * `recorded` has the labels of recorded series by their names.
 */
export function complaintsAbout(
  expression: string,
  recorded: ReadonlyMap<string, readonly string[]>,
): string[] {
  const known = new Set(EVERYWHERE);
  const complaints: string[] = [];
  for (const [, name = '', matchers = ''] of expression.matchAll(
    /\b((?:paddock|gha)[_:][\w:]+|ALERTS)\b(?:\{([^}]*)\})?/g,
  )) {
    const labels =
      name === 'ALERTS'
        ? ALERT
        : (recorded.get(name) ?? documented.get(metricOf(name))?.labels ?? undefined);
    if (labels === undefined) complaints.push(`There is no metric ${name}.`);
    const own = [...(labels ?? []), ...(name.endsWith('_bucket') ? ['le'] : []), ...EVERYWHERE];
    for (const label of own) known.add(label);
    for (const [, label = '', value = ''] of matchers.matchAll(/(\w+)\s*[=!]~?\s*"([^"]*)"/g)) {
      if (!own.includes(label)) complaints.push(`${name} has no label ${label}.`);
      if (label === 'event')
        for (const event of namesIn(value))
          if (!new RegExp(`^ {2}${event}: \\(`, 'm').test(EVENTS))
            complaints.push(`There is no event ${event}.`);
    }
  }
  for (const [, made = ''] of expression.matchAll(/label_replace\(.*?, "(\w+)", "/g))
    known.add(made);
  for (const [, labels = ''] of expression.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g))
    for (const label of labels.match(/\w+/g) ?? [])
      if (!known.has(label)) complaints.push(`Nothing here has the label ${label}.`);
  return complaints;
}

/** The labels that an expression leaves. */
export const labelsOf = (expression: string): string[] =>
  [...expression.matchAll(/\bby\s*\(([^)]*)\)|label_replace\(.*?, "(\w+)", "/g)].flatMap(
    ([, by = '', made = '']) => `${by} ${made}`.match(/\w+/g) ?? [],
  );
