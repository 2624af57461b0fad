import { alignColumns, medianOf, quantileOf, toHundredths } from '../figures.ts';
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

/** The table for people. */
export function tableOf(runs: readonly Run[]): string {
  const tuned = runs.find(({ variant }) => variant === 'graphile-tuned')?.tasks_per_second ?? Number.NaN;
  return alignColumns([
    ['variant', 'tasks/s', 'of tuned', 'start p50 ms', 'start p99 ms'],
    ...runs.map((run) => [
      run.variant,
      String(run.tasks_per_second),
      (run.tasks_per_second / tuned).toFixed(2),
      run.start_p50_ms.toFixed(2),
      run.start_p99_ms.toFixed(2),
    ]),
  ]);
}
