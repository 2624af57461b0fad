import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';

interface Result {
  readonly tables: readonly (readonly object[])[];
  readonly notes?: string;
  readonly failed?: boolean;
}

/** What is said of faults. */
interface GivenFaults {
  /** The one to play alone. */
  readonly fault?: string;
  /** The folder for a tape of each. */
  readonly tape?: string;
}

/** One measurement of `bench NAME`, with its alternatives in the same run. */
export interface Bench<Flag extends string = string> {
  /** One line for the usage. */
  readonly about: string;
  /** Its numbers by their flags, as `jobs`, with the defaults. */
  readonly numbers: Readonly<Record<Flag, number>>;
  /** The faults that may be played alone. */
  readonly parts?: readonly string[];
  /** Its tables and notes are printed. `failed`: a measured value is outside its bounds. */
  run(numbers: Readonly<Record<Flag, number>>, faults?: GivenFaults): Promise<Result>;
}

/** Tells people how far it has come. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Works on a PostgreSQL of its own, which is removed afterwards. */
export async function onPostgres<T>(
  options: Parameters<typeof startPostgres>[0],
  work: (postgres: Postgres) => Promise<T>,
): Promise<T> {
  const postgres = await startPostgres(options);
  try {
    return await work(postgres);
  } finally {
    await postgres.stop({ mode: 'immediate' });
  }
}

/** No round begins after this; a median of fewer rounds still counts. */
const ENOUGH_MS = 270_000;

/**
 * Measures all in each round, so that the machine's other work slows all of them equally. The order
 * turns: the remains of one, such as a checkpoint or full caches, slow another one the next time.
 * `measure` returns what it has found, in words.
 */
export async function inRounds<T>(
  rounds: number,
  all: readonly T[],
  measure: (one: T) => Promise<string>,
): Promise<void> {
  const deadline = performance.now() + ENOUGH_MS;
  for (let round = 1; round <= rounds && (round === 1 || performance.now() < deadline); round++)
    for (const one of round % 2 === 1 ? all : all.toReversed())
      say(`round ${round} of ${rounds}: ${await measure(one)}`);
}

/** The App of all measurements; further environments have the next numbers. */
export const APP_ID = 7;

export const medianOf = (values: readonly number[]): number => quantileOf(values, 0.5);

/** The nearest value that the given share of all values does not exceed. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Null where nothing was measured. */
export const toHundredths = (value = Number.NaN): number | null =>
  Number.isFinite(value) ? Math.round(value * 100) / 100 : null;
