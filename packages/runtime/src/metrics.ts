import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { oneReadAtATime } from './one-read-at-a-time.ts';

/**
 * Declares the metrics of one service. Label values come from closed sets or from configuration,
 * never from a payload.
 */
export interface Metrics {
  readonly registry: Registry;
  /** Counts the lines of `tellEvents`. */
  readonly events: Counter<'event'>;
  counter<L extends string = never>(
    name: string,
    help: string,
    labelNames?: readonly L[],
  ): Counter<L>;
  gauge<L extends string = never>(name: string, help: string, labelNames?: readonly L[]): Gauge<L>;
  /** A gauge that each scrape reads. */
  reading(name: string, help: string, read: () => number): void;
  /**
   * Gauges that each scrape reads together, such as rows of the database. While they cannot be read
   * in time they are absent: an old value would look like a true one. Their values are those of the
   * newest reading only.
   */
  readings<N extends string>(
    gauges: DeclaredGauges<N>,
    read: () => Promise<readonly Sample<N>[]>,
  ): void;
  histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames?: readonly L[],
  ): Histogram<L>;
}

/** By name: the meaning of each value, and its labels. */
export type DeclaredGauges<N extends string = string> = Readonly<
  Record<N, { readonly help: string; readonly labels?: readonly string[] }>
>;

export interface Sample<N extends string = string> {
  readonly gauge: N;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The two levels that the metrics log at. */
type Log = Readonly<Record<'warn' | 'info', (message: string, fields: object) => unknown>>;

let ofProcess: Registry | undefined;

/**
 * The metrics of this process: memory, garbage collection, event loop. What measures them works until
 * the process ends, so there is one.
 */
function readProcess(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

/** `log` gets a line when gauges cannot be read, and one when they can be read again. */
export function createMetrics(log?: Log): Metrics {
  const registry = Registry.merge([readProcess()]);
  const registers = [registry];
  return {
    registry,
    events: new Counter({
      name: 'paddock_events_total',
      help: 'Logged events, by name',
      labelNames: ['event'],
      registers,
    }),
    counter: (name, help, labelNames = []) => new Counter({ name, help, labelNames, registers }),
    gauge: (name, help, labelNames = []) => new Gauge({ name, help, labelNames, registers }),
    reading: (name, help, read) => {
      const collect = function collect(this: Gauge): void {
        this.set(read());
      };
      registry.registerMetric(new Gauge({ name, help, collect, registers: [] }));
    },
    readings: (gauges, read) => {
      const names = Object.keys(gauges);
      const readOnce = oneReadAtATime(read, {
        onFailed: (error) =>
          log?.warn('gauges cannot be read: they are absent from the metrics', {
            gauges: names,
            error,
          }),
        onReadAgain: () => log?.info('gauges can be read again', { gauges: names }),
      });
      for (const [name, { help, labels = [] }] of Object.entries<DeclaredGauges[string]>(gauges)) {
        const collect = async function collect(this: Gauge): Promise<void> {
          const samples = await readOnce();
          this.reset();
          // Without labels a reset gauge is 0, not absent.
          if (labels.length === 0) this.remove();
          for (const sample of samples ?? [])
            if (sample.gauge === name) this.set({ ...sample.labels }, sample.value);
        };
        registry.registerMetric(
          new Gauge({
            name,
            help,
            labelNames: labels,
            collect,
            aggregator: 'first',
            registers: [],
          }),
        );
      }
    },
    histogram: (name, help, buckets, labelNames = []) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  };
}
