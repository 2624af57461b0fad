import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Declares the metrics of one service. Label values come from closed sets or from configuration, never from a payload (H5). */
export interface Metrics {
  readonly registry: Registry;
  counter<L extends string = never>(name: string, help: string, labelNames?: readonly L[]): Counter<L>;
  gauge<L extends string = never>(name: string, help: string, labelNames?: readonly L[]): Gauge<L>;
  /** A gauge that is read when it is asked for. */
  reading(name: string, help: string, read: () => number): void;
  histogram<L extends string = never>(name: string, help: string, buckets: number[], labelNames?: readonly L[]): Histogram<L>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    counter: (name, help, labelNames = []) => new Counter({ name, help, labelNames, registers }),
    gauge: (name, help, labelNames = []) => new Gauge({ name, help, labelNames, registers }),
    reading: (name, help, read) => {
      const collect = function collect(this: Gauge): void {
        this.set(read());
      };
      registry.registerMetric(new Gauge({ name, help, collect, registers: [] }));
    },
    histogram: (name, help, buckets, labelNames = []) => new Histogram({ name, help, buckets, labelNames, registers }),
  };
}
