import { medianOf, toHundredths } from '../figures.ts';
import type { Running } from './neighbour.ts';

/** One measurement: its value, such as deliveries per second, and how often it failed. */
export interface Measured {
  readonly value: number;
  readonly failures: number;
}

/** Medians of the rounds, by the names of the JSON object. */
export interface Run {
  readonly measured: 'deliveries_per_second' | 'pass_ms';
  readonly beside: 'matching' | 'pages';
  /** Null where nothing is delivered. */
  readonly connections: number | null;
  readonly alone: number;
  readonly with_it: number;
  /** The median of the ratios of each pair of measurements. */
  readonly ratio: number;
  /** Passes of the matcher, or answers of the console, in all rounds. */
  readonly done: number;
  /** Passes, answers or deliveries that failed, deadlocks among them. */
  readonly failures: number;
}

export interface Measuring extends Pick<Run, 'measured' | 'beside' | 'connections'> {
  readonly measure: () => Promise<Measured>;
  readonly start: () => Running | Promise<Running>;
}

const ROUNDS = 9;

/**
 * Measures alone and with a neighbour, in turn; every second round begins with the neighbour, so
 * that the machine's other work slows both equally.
 */
export async function measurePairs(
  { measure, start, ...of }: Measuring,
  say: (line: string) => void,
): Promise<Run> {
  const pairs: { alone: number; with: number }[] = [];
  let done = 0;
  let failures = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const before = round % 2 === 0 ? await measure() : undefined;
    const neighbour = await start();
    let measured: Measured;
    try {
      measured = await measure();
    } finally {
      await neighbour.stop();
    }
    const counts = await neighbour.stop();
    const alone = before ?? (await measure());
    pairs.push({ alone: alone.value, with: measured.value });
    done += counts.done;
    failures += counts.failures + alone.failures + measured.failures;
    say(
      `${of.measured} beside ${of.beside}, at ${of.connections ?? 'no'} connections, round ${round} of ${ROUNDS}: ${toHundredths(alone.value)} alone, ${toHundredths(measured.value)} with it`,
    );
  }
  return {
    ...of,
    alone: toHundredths(medianOf(pairs.map(({ alone }) => alone))),
    with_it: toHundredths(medianOf(pairs.map((pair) => pair.with))),
    ratio: toHundredths(medianOf(pairs.map((pair) => pair.with / pair.alone))),
    done,
    failures,
  };
}
