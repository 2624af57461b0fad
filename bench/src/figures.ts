export const medianOf = (values: readonly number[]): number => quantileOf(values, 0.5);

/** The nearest value that the given share of all values does not exceed. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const toHundredths = (value: number): number => Math.round(value * 100) / 100;

const FIRST_COLUMN = 18;

/** Rows of a table for people: the first column to the left, figures to the right. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const first = Math.max(FIRST_COLUMN, ...rows.map(([name = '']) => name.length));
  return rows
    .map(
      ([name = '', ...figures]) =>
        name.padEnd(first) + figures.map((figure) => figure.padStart(14)).join(''),
    )
    .join('\n');
}
