import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { medianOf, quantileOf, toHundredths } from '../figures.ts';
import { createGraphile } from './graphile.ts';
import {
  type Contender,
  measureStarts,
  measureThroughput,
  SLOTS,
  type Variant,
} from './measure.ts';
import { createPaddock } from './paddock.ts';

const ROUNDS = 5;
const STARTS_PER_ROUND = 20;
const WARM_UP_TASKS = 5_000;
/** No round begins after this; a median of fewer rounds still counts. */
const ENOUGH_MS = 240_000;

type Say = (line: string) => void;

export const queue: Bench = {
  about:
    'no-op tasks per second and enqueue-to-start latency with 16, 64 and 500 slots, beside graphile-worker',
  numbers: { tasks: 20_000 },
  async run({ numbers: { tasks = 0 } }, say) {
    const runs = await benchQueue(tasks, say);
    return { tables: { runs }, notes: LOAD };
  },
};

/**
 * Measures all variants on one PostgreSQL with default durability, which it starts and removes.
 * Rounds follow each other; in every round each variant has one turn with each number of slots, so
 * that the machine's other work slows all of them equally.
 */
async function benchQueue(tasks: number, say: Say): Promise<Run[]> {
  const postgres = await startPostgres({ durable: true });
  const contenders: Contender[] = [];
  try {
    const url = postgres.url();
    contenders.push(await createPaddock(url), await createGraphile(url));
    return await measureAll(contenders, tasks, say);
  } finally {
    await Promise.all(contenders.map((contender) => contender.close()));
    await postgres.stop();
  }
}

async function measureAll(
  contenders: readonly Contender[],
  tasks: number,
  say: Say,
): Promise<Run[]> {
  const measured = SLOTS.flatMap((slots) =>
    contenders.map((contender) => ({
      contender,
      slots,
      rates: [] as number[],
      starts: [] as number[],
    })),
  );
  say('warming up');
  for (const { contender, slots } of measured)
    await measureThroughput(contender, slots, WARM_UP_TASKS);
  const deadline = performance.now() + ENOUGH_MS;
  for (let round = 1; round <= ROUNDS && (round === 1 || performance.now() < deadline); round++) {
    // The order changes in each round: the remains of one variant, such as a checkpoint or full
    // caches, slow another one the next time.
    for (const { contender, slots, rates, starts } of round % 2 === 1
      ? measured
      : measured.toReversed()) {
      const rate = await measureThroughput(contender, slots, tasks);
      const latencies = await measureStarts(contender, slots, STARTS_PER_ROUND);
      rates.push(rate);
      starts.push(...latencies);
      const start = medianOf(latencies).toFixed(2);
      say(
        `round ${round} of ${ROUNDS}: ${contender.variant}, ${slots} slots: ${Math.round(rate)} tasks/s, start after ${start} ms`,
      );
    }
  }
  const graphileWith = new Map<number, number>();
  for (const { contender, slots, rates } of measured)
    if (contender.variant === 'graphile') graphileWith.set(slots, medianOf(rates));
  return measured.map(({ contender: { variant }, slots, rates, starts }) => ({
    slots,
    variant,
    tasks_per_second: Math.round(medianOf(rates)),
    of_graphile: toHundredths(medianOf(rates) / (graphileWith.get(slots) ?? Number.NaN)),
    start_p50_ms: toHundredths(medianOf(starts)),
    start_p99_ms: toHundredths(quantileOf(starts, 0.99)),
  }));
}

/** Medians of the rounds' rates, and quantiles of all rounds' latencies. */
interface Run {
  readonly slots: number;
  readonly variant: Variant;
  readonly tasks_per_second: number;
  readonly of_graphile: number;
  readonly start_p50_ms: number;
  readonly start_p99_ms: number;
}

const LOAD = `Tasks that do nothing. Slots: tasks that run at one time, 16 as in the services. All: equal slots and
durability; medians of rounds, whose order turns.`;
