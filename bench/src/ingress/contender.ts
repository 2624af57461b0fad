import type { Load, LoadResult } from './load-thread.ts';
import type { Mix } from './deliveries.ts';
import type { Variant } from './variants.ts';

/**
 * One measurement. Latencies are in milliseconds: of a delivery, or for the limit of a statement.
 */
export interface Sample extends LoadResult {
  readonly cpuSeconds: { readonly service: number; readonly postgres: number };
}

/** One way to write deliveries into the tables. */
export interface Contender {
  readonly variant: Variant;
  /** The numbers of connections to measure it at. */
  readonly connections: readonly number[];
  /** The mixes to measure it with. */
  readonly mixes: readonly Mix[];
  measure(load: Omit<Load, 'port'>): Promise<Sample>;
  close(): Promise<void>;
}
