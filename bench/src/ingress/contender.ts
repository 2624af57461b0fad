import type { LoadResult } from './load-thread.ts';
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
  /** Writes the deliveries of `count` new jobs, numbered from `firstJobId` on. */
  measure(connections: number, firstJobId: number, count: number): Promise<Sample>;
  close(): Promise<void>;
}
