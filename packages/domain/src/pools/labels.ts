/** Labels as they are written to rows and compared: lower case, each once, sorted by code unit (A2). As sent they stay in the delivery. */
export function normaliseLabels(labels: readonly string[]): string[] {
  return [...new Set(labels.map((label) => label.toLowerCase()))].toSorted(byCodeUnit);
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** In UTF-8. An entry of the indexes that hold a label set has at most 2 704 bytes, what JSONB adds to each label included. */
export const MOST_LABEL_BYTES = 2_000;

/** Those of the labels that fit into a row, from the first on. All of them, for any job that fits a pool. */
export function storableLabels(labels: readonly string[]): readonly string[] {
  let bytes = 0;
  return labels.filter((label) => (bytes += bytesOf(label)) <= MOST_LABEL_BYTES);
}

/** With what JSONB adds. */
const bytesOf = (label: string): number => new TextEncoder().encode(label).length + 4;
