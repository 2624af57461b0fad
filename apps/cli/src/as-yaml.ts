import { stringify } from 'yaml';
import { printable } from './columns.ts';

/** One thing with all that it has. Control characters are shown as a point each, as in columns. */
export const asYaml = (value: object): string =>
  stringify(value, { lineWidth: 0 })
    .split('\n')
    .map((line) => printable(line))
    .join('\n');
