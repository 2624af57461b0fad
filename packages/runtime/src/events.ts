import type { LOG_LEVELS } from './logger.ts';
import type { Metrics } from './metrics.ts';

type Level = (typeof LOG_LEVELS)[number];

/** The methods of a logger that events use. */
export type EventLog = Readonly<Record<Level, (message: string, fields: object) => unknown>>;

interface Line {
  readonly level: Level;
  readonly sentence: string;
  readonly fields: object;
}

const at =
  (level: Level) =>
  (sentence: string, fields: object = {}): Line => ({ level, sentence, fields });

/** What a row says: a constant sentence, and named fields. winston would append a `message`. */
export const line = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };

const MOST_LISTED = 10;

/** The fields for a list: its length, and the first few of it. */
export const listed = (list: readonly unknown[]) => ({
  count: list.length,
  some: list.slice(0, MOST_LISTED),
});

type Table = Readonly<Record<string, (...told: never[]) => Line | undefined>>;

type Told<T extends Table> = {
  readonly [Event in keyof T]: (...told: Parameters<T[Event]>) => void;
};

/**
 * Returns a function for each row of the table. It logs the row's line, if there is one, and counts
 * it in `paddock_events_total` by the row's name. A line whose field `count` is 0 says that nothing
 * happened: it is left out.
 */
export function tellEvents<T extends Table>(
  table: T,
  { log, metrics }: { log: EventLog; metrics: Pick<Metrics, 'events'> },
): Told<T> {
  const tell = ([event, row]: [string, (...told: never[]) => Line | undefined]) => {
    // An alert sees the first event only as a rise from 0.
    metrics.events.inc({ event }, 0);
    return [
      event,
      (...told: never[]) => {
        const said = row(...told);
        if (said === undefined || ('count' in said.fields && said.fields.count === 0)) return;
        metrics.events.inc({ event });
        log[said.level](said.sentence, said.fields);
      },
    ];
  };
  return Object.fromEntries(Object.entries(table).map(tell)) as Told<T>;
}

/**
 * Whether to log a line now: the first of its kind at once, then one a minute. Undefined: do not
 * log. Otherwise how many of its kind were left out since the last. Kinds are our words, never a
 * sender's.
 */
export type Samples = (kind: string) => { readonly leftOut: number } | undefined;

const MINUTE_MS = 60_000;

/** Limits log lines that any sender can cause. `now` is in milliseconds. */
export function createSamples(now: () => number = () => performance.now()): Samples {
  const kinds = new Map<string, { at: number; leftOut: number }>();
  return (kind) => {
    const known = kinds.get(kind);
    if (known !== undefined && now() - known.at < MINUTE_MS) {
      known.leftOut++;
      return undefined;
    }
    kinds.set(kind, { at: now(), leftOut: 0 });
    return { leftOut: known?.leftOut ?? 0 };
  };
}
