export const medianOf = (values: readonly number[]): number => quantileOf(values, 0.5);

/** The nearest value that the given share of all values does not exceed. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export const toHundredths = (value: number): number => Math.round(value * 100) / 100;

/** Undefined where nothing was measured. */
export const roundedOrNull = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : toHundredths(value);

/** A table for people, whose heads are the names of the JSON: its first column to the left. */
export function tableOf(rows: readonly object[]): string {
  const heads = Object.keys(rows[0] ?? {}).map((name) => name.replaceAll('_', ' '));
  const lines = rows.map((row) => Object.values(row).map((value) => String(value ?? '-')));
  const widths = heads.map((head, nth) =>
    Math.max(head.length, ...lines.map((cells) => cells[nth]?.length ?? 0)),
  );
  return [heads, ...lines]
    .map((cells) =>
      cells
        .map((cell, nth) =>
          nth === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[nth] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
}
