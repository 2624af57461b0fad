import { alignColumns, medianOf, quantileOf, toHundredths } from '../figures.ts';
import type { Sample } from './contender.ts';
import type { Mix } from './deliveries.ts';
import type { Variant } from './variants.ts';

/**
 * The printed figures of one variant with one mix at one number of connections, by the names of the
 * JSON object.
 */
export interface Run {
  readonly mix: Mix;
  readonly variant: Variant;
  readonly connections: number;
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Null where the system does not report it. */
  readonly cpu_s_per_1000: { readonly service: number | null; readonly postgres: number | null };
  readonly missing_rows: number;
}

export interface CountedSample extends Sample {
  readonly missingRows: number;
}

/** Medians of the rounds; missing rows are added up. */
export function toRun(
  { mix, variant, connections }: Pick<Run, 'mix' | 'variant' | 'connections'>,
  samples: readonly CountedSample[],
): Run {
  const median = (of: (sample: CountedSample) => number): number => medianOf(samples.map(of));
  const cpu = (of: (used: Sample['cpuSeconds']) => number): number | null => {
    const perThousand = median(
      (sample) => (of(sample.cpuSeconds) / sample.acceptedJobIds.length) * 1_000,
    );
    return Number.isNaN(perThousand) ? null : Math.round(perThousand * 1_000) / 1_000;
  };
  return {
    mix,
    variant,
    connections,
    per_second: Math.round(median(rateOf)),
    p50_ms: toHundredths(median(({ latencies }) => medianOf([...latencies]))),
    p99_ms: toHundredths(median(({ latencies }) => quantileOf([...latencies], 0.99))),
    cpu_s_per_1000: {
      service: cpu(({ service }) => service),
      postgres: cpu(({ postgres }) => postgres),
    },
    missing_rows: samples.reduce((sum, { missingRows }) => sum + missingRows, 0),
  };
}

/** Deliveries that were accepted, per second. */
export const rateOf = ({ acceptedJobIds, seconds }: Sample): number =>
  acceptedJobIds.length / seconds;

const LOAD = `
mixed: queued, in_progress and completed in equal parts, each job's 100 jobs apart. queued: new jobs only,
the best case. Bodies of 7 KB. plain: one upsert and one event for each delivery, in its own transaction.
limit: the same rows of new jobs without HTTP. All: equal connections and durability; medians of rounds,
whose order turns.`;

/** The table for people, and what was measured. */
export function tableOf(runs: readonly Run[]): string {
  const ofPlain = ({ mix, connections, per_second: rate }: Run): number =>
    rate /
    (runs.find(
      (run) => run.variant === 'plain' && run.mix === mix && run.connections === connections,
    )?.per_second ?? Number.NaN);
  const table = alignColumns([
    [
      'deliveries',
      'variant',
      'connections',
      'deliveries/s',
      'of plain',
      'p50 ms',
      'p99 ms',
      'its CPU s/1000',
      'PG CPU s/1000',
      'missing rows',
    ],
    ...runs.map((run) => [
      run.mix,
      run.variant,
      String(run.connections),
      String(run.per_second),
      ofPlain(run).toFixed(2),
      run.p50_ms.toFixed(2),
      run.p99_ms.toFixed(2),
      run.cpu_s_per_1000.service?.toFixed(3) ?? 'no /proc',
      run.cpu_s_per_1000.postgres?.toFixed(3) ?? 'no /proc',
      String(run.missing_rows),
    ]),
  ]);
  return `${table}
${LOAD}`;
}
