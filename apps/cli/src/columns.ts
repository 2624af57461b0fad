import { stringify } from 'yaml';

/**
 * Rows as aligned columns under their heads; no rows: `nothing`. Control characters, which foreign
 * text may have, are shown as a point each, and long cells are cut, except in the last column.
 */
export function columns(
  heads: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
  nothing: string,
): string {
  if (rows.length === 0) return `${nothing}\n`;
  const last = heads.length - 1;
  const cells = [
    heads,
    ...rows.map((row) =>
      row.map((cell, n) => {
        const text = printable(`${cell ?? '-'}`);
        return n < last ? cut(text) : text;
      }),
    ),
  ];
  const widths = heads.map((_head, n) => Math.max(...cells.map((row) => (row[n] ?? '').length)));
  return cells
    .map((row) =>
      row
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

const LONGEST_CELL = 50;

const cut = (text: string): string =>
  text.length <= LONGEST_CELL ? text : `${text.slice(0, LONGEST_CELL - 1).toWellFormed()}…`;

/** A name from GitHub must not move the cursor or clear the screen of the person who reads it. */
export const printable = (text: string): string => text.replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, '·');

/** One thing with all that it has. Control characters are shown as a point each, as in columns. */
export const asYaml = (value: object): string =>
  stringify(value, { lineWidth: 0 })
    .split('\n')
    .map((line) => printable(line))
    .join('\n');

export const more = (next: string | null): string =>
  next === null ? '' : `\nThere are more: add --after ${next}\n`;

/** As `owner=acme,repository=app`. */
export const pairs = (fields: Readonly<Record<string, string | number>>): string =>
  Object.entries(fields)
    .map(([field, value]) => `${field}=${value}`)
    .join(',');
