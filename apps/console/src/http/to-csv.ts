/**
 * The rows of a list for a sheet: a column for each value, as `entity.login`. Numbers are whole, and
 * shares are percents. A text that a sheet would take for a formula begins with an apostrophe: names
 * come from strangers.
 */
export function toCsv(rows: readonly unknown[]): string {
  const flat = rows.map((row) => new Map(flatten(row)));
  const columns = [...new Set(flat.flatMap((row) => [...row.keys()]))];
  const lines = flat.map((row) => columns.map((column) => cellOf(column, row.get(column))));
  return [columns, ...lines].map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('');
}

function flatten(value: unknown, name = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]];
  return Object.entries(value).flatMap(([key, of]) =>
    flatten(of, name === '' ? key : `${name}.${key}`),
  );
}

function cellOf(column: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number')
    return String(Math.round(column.endsWith('Share') ? value * 100 : value));
  const text = Array.isArray(value) ? value.join(' ') : `${value as string | boolean}`;
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

const quoted = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
