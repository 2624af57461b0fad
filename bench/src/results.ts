import type { Variant } from './contender.ts';

/** What is printed of one variant, by the names of the JSON object. */
export interface Run {
  readonly variant: Variant;
  readonly tasks_per_second: number;
  readonly start_p50_ms: number;
  readonly start_p99_ms: number;
}

/** The median of the rounds' rates, and the quantiles of all rounds' latencies together. */
export const toRun = (variant: Variant, rates: readonly number[], starts: readonly number[]): Run => ({
  variant,
  tasks_per_second: Math.round(medianOf(rates)),
  start_p50_ms: toHundredths(medianOf(starts)),
  start_p99_ms: toHundredths(quantileOf(starts, 0.99)),
});

export const medianOf = (values: readonly number[]): number => quantileOf(values, 0.5);

/** The nearest value that the given share of all values does not exceed. */
function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

const toHundredths = (value: number): number => Math.round(value * 100) / 100;

/** The table for people. */
export function tableOf(runs: readonly Run[]): string {
  const tuned = runs.find(({ variant }) => variant === 'graphile-tuned')?.tasks_per_second ?? Number.NaN;
  const rows = [
    ['variant', 'tasks/s', 'of tuned', 'start p50 ms', 'start p99 ms'],
    ...runs.map((run) => [
      run.variant,
      String(run.tasks_per_second),
      (run.tasks_per_second / tuned).toFixed(2),
      run.start_p50_ms.toFixed(2),
      run.start_p99_ms.toFixed(2),
    ]),
  ];
  return rows.map(([name = '', ...figures]) => name.padEnd(18) + figures.map((figure) => figure.padStart(14)).join('')).join('\n');
}
