/** Labels as they are written to rows and compared: lower case, each once, sorted by code unit (A2). As sent they stay in the delivery. */
export function normaliseLabels(labels: readonly string[]): string[] {
  return [...new Set(labels.map((label) => label.toLowerCase()))].toSorted(byCodeUnit);
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
