import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs', 'metrics.md'), 'utf8');

interface Metric {
  readonly type: string;
  readonly services: readonly string[];
  readonly labels: readonly string[];
  readonly help: string;
}

/** The entry of docs/metrics.md for each metric, by its name. */
export const documented: ReadonlyMap<string, Metric> = new Map(
  [...PAGE.matchAll(/^\| `(paddock_\w+)` \| (.*?) \| (.*?) \| (.*?) \| (.*) \|$/gm)].map(
    ([, name = '', type = '', services = '', labels = '', help = '']) => [
      name,
      { type, services: services.split(', '), labels: labels.match(/\w+/g) ?? [], help },
    ],
  ),
);

/** The metric of a sample; a histogram has three kinds of them. */
export function metricOf(sample: string): string {
  const name = /^\w+/.exec(sample)?.[0] ?? '';
  return documented.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
}
