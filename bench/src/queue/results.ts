import { alignColumns, medianOf, quantileOf, toHundredths } from '../figures.ts';
import type { Variant } from './contender.ts';

/** The printed figures of one variant, by the names of the JSON object. */
export interface Run {
  readonly variant: Variant;
  /** The most tasks that ran at one time. */
  readonly slots: number;
  readonly tasks_per_second: number;
  readonly start_p50_ms: number;
  readonly start_p99_ms: number;
}

/** The median of the rounds' rates, and the quantiles of all rounds' latencies together. */
export const toRun = (
  of: Pick<Run, 'variant' | 'slots'>,
  rates: readonly number[],
  starts: readonly number[],
): Run => ({
  ...of,
  tasks_per_second: Math.round(medianOf(rates)),
  start_p50_ms: toHundredths(medianOf(starts)),
  start_p99_ms: toHundredths(quantileOf(starts, 0.99)),
});

const LOAD = `
Tasks that do nothing. Slots: tasks that run at one time, 16 as in the services. All: equal slots and
durability; medians of rounds, whose order turns.`;

/** The table for people, and what was measured. */
export function tableOf(runs: readonly Run[]): string {
  const tunedWith = (slots: number): number =>
    runs.find((run) => run.variant === 'graphile-tuned' && run.slots === slots)?.tasks_per_second ??
    Number.NaN;
  const table = alignColumns([
    ['slots', 'variant', 'tasks/s', 'of tuned', 'start p50 ms', 'start p99 ms'],
    ...runs.map((run) => [
      String(run.slots),
      run.variant,
      String(run.tasks_per_second),
      (run.tasks_per_second / tunedWith(run.slots)).toFixed(2),
      run.start_p50_ms.toFixed(2),
      run.start_p99_ms.toFixed(2),
    ]),
  ]);
  return `${table}
${LOAD}`;
}
