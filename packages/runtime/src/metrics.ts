import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { pause } from './pause.ts';

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

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Declares the metrics of one service. Label values come from closed sets or from configuration,
 * never from a payload. `log` gets a line when gauges cannot be read, and one when they can be read
 * again.
 */
export function createMetrics(log?: Log) {
  const registry = Registry.merge([readProcess()]);
  const registers = [registry];
  return {
    registry,
    /** Counts the lines of `tellEvents`. */
    events: new Counter({
      name: 'paddock_events_total',
      help: 'Logged events, by name',
      labelNames: ['event'],
      registers,
    }),
    counter: <L extends string = never>(
      name: string,
      help: string,
      labelNames: readonly L[] = [],
    ) => new Counter<L>({ name, help, labelNames, registers }),
    gauge: <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge<L>({ name, help, labelNames, registers }),
    /** A gauge that each scrape reads. */
    reading(name: string, help: string, read: () => number): void {
      const collect = function collect(this: Gauge): void {
        this.set(read());
      };
      registry.registerMetric(new Gauge({ name, help, collect, registers: [] }));
    },
    /**
     * Gauges that each scrape reads together, such as rows of the database. While they cannot be read
     * in time they are absent: an old value would look like a true one. Their values are those of the
     * newest reading only.
     */
    readings<N extends string>(
      gauges: DeclaredGauges<N>,
      read: () => Promise<readonly Sample<N>[]>,
    ): void {
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
    histogram: <L extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: readonly L[] = [],
    ) => new Histogram<L>({ name, help, buckets, labelNames, registers }),
  };
}

interface ReadTold {
  /** Called once when reading begins to fail, not for each failure. */
  onFailed: (error: unknown) => void;
  onReadAgain: () => void;
}

/**
 * A scrape must not wait for longer: Prometheus gives up after 10 s by default, and then loses all
 * other metrics.
 */
const PATIENCE_MS = 2_000;

/** Gauges of one scrape, and of simultaneous scrapes, share one reading. */
const FRESH_MS = 1_000;

/**
 * Reads for all callers: at most once a second, and never twice at the same time, even while a
 * reading hangs. Resolves to undefined when reading fails or takes too long. Never rejects.
 */
function oneReadAtATime<T>(
  read: () => Promise<T>,
  { onFailed, onReadAgain }: ReadTold,
): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined;
  let newest: { readonly value: T; readonly at: number } | undefined;
  let isFailing = false;

  const fail = (error: unknown): undefined => {
    newest = undefined;
    if (!isFailing) onFailed(error);
    isFailing = true;
    return undefined;
  };
  const readNow = async (): Promise<T | undefined> => {
    try {
      const value = await read();
      newest = { value, at: performance.now() };
      if (isFailing) onReadAgain();
      isFailing = false;
      return value;
    } catch (error) {
      return fail(error);
    } finally {
      reading = undefined;
    }
  };

  return async () => {
    if (newest !== undefined && performance.now() - newest.at < FRESH_MS) return newest.value;
    reading ??= readNow();
    const answered = new AbortController();
    const late = pause(PATIENCE_MS, answered.signal).then(() =>
      answered.signal.aborted
        ? undefined
        : fail(new Error(`They were not read within ${PATIENCE_MS} ms.`)),
    );
    try {
      return await Promise.race([reading, late]);
    } finally {
      answered.abort();
    }
  };
}
