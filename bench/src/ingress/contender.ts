import type { Mix } from './deliveries.ts';
import type { Load, LoadResult } from './load-thread.ts';

export const VARIANTS = ['paddock', 'no-group-commit', 'plain', 'limit'] as const;
export type Variant = (typeof VARIANTS)[number];

/** How many connections deliver at once. */
export const CONNECTIONS = [1, 16, 64, 256] as const;
export const MOST_CONNECTIONS = 256;

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
