/**
 * Labels as rows hold them: lower case, unique, sorted by code unit. The delivery keeps them as
 * sent.
 */
export function normaliseLabels(labels: readonly string[]): string[] {
  return [...new Set(labels.map((label) => label.toLowerCase()))].toSorted(byCodeUnit);
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** In UTF-8. An index entry has at most 2 704 bytes, including what JSONB adds to each label. */
export const MOST_LABEL_BYTES = 2_000;

/**
 * The labels that fit into a row, from the first on. If a job fits a pool, all of its labels fit.
 */
export function storableLabels(labels: readonly string[]): readonly string[] {
  let bytes = 0;
  return labels.filter((label) => (bytes += bytesOf(label)) <= MOST_LABEL_BYTES);
}

/** Includes what JSONB adds. */
const bytesOf = (label: string): number => new TextEncoder().encode(label).length + 4;
