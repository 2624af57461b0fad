/**
 * The sum of a metric over its samples on a page of metrics, 0 without any. `name` may include some
 * labels.
 */
export function metricSum(page: string, name: string): number {
  const lines = page
    .split('\n')
    .filter(
      (line) =>
        line.startsWith(name) && /^[ {},]|^$/.test(line.slice(name.length, name.length + 1)),
    );
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
