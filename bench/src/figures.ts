/** The App of all measurements; further environments have the next numbers. */
export const APP_ID = 7;

export const medianOf = (values: readonly number[]): number => quantileOf(values, 0.5);

/** The nearest value that the given share of all values does not exceed. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Null where nothing was measured. */
export const toHundredths = (value = Number.NaN): number | null =>
  Number.isFinite(value) ? Math.round(value * 100) / 100 : null;
