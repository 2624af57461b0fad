import type { Load, LoadResult } from './load-thread.ts';
import type { Mix } from './deliveries.ts';
import type { Variant } from './variants.ts';

/** One measurement. Latencies are a delivery's, for the limit a statement's, in milliseconds. */
export interface Sample extends LoadResult {
  readonly cpuSeconds: { readonly service: number; readonly postgres: number };
}

/** What writes deliveries into the tables, each way its own. */
export interface Contender {
  readonly variant: Variant;
  /** How many connections it is measured at. */
  readonly connections: readonly number[];
  /** What it is measured with. */
  readonly mixes: readonly Mix[];
  measure(load: Omit<Load, 'port'>): Promise<Sample>;
  close(): Promise<void>;
}
