import {
  type Bench,
  inRounds,
  onPostgres,
  say,
  medianOf,
  quantileOf,
  toHundredths,
} from '../bench.ts';
import { createGraphile } from './graphile.ts';
import { type Contender, measureStarts, measureThroughput } from './measure.ts';
import { createPaddock } from './paddock.ts';

/**
 * How many tasks run at one time: 16 as in the services, and more to show how far a queue scales.
 */
const SLOTS = [16, 64, 500] as const;
const STARTS_PER_ROUND = 20;
const WARM_UP_TASKS = 5_000;

export const queue: Bench<'tasks' | 'rounds'> = {
  about:
    'no-op tasks per second and enqueue-to-start latency with 16, 64 and 500 slots, beside graphile-worker',
  numbers: { tasks: 20_000, rounds: 5 },
  run: (sizes) =>
    onPostgres({ durable: true }, async (postgres) => {
      const contenders: Contender[] = [];
      try {
        const url = postgres.url();
        contenders.push(await createPaddock(url), await createGraphile(url));
        return { tables: [await measureAll(contenders, sizes)], notes: LOAD };
      } finally {
        await Promise.all(contenders.map((contender) => contender.close()));
      }
    }),
};

/** Medians of the rounds' rates, and quantiles of all rounds' latencies. */
async function measureAll(
  contenders: readonly Contender[],
  { tasks, rounds }: Readonly<Record<'tasks' | 'rounds', number>>,
): Promise<object[]> {
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
  await inRounds(rounds, measured, async ({ contender, slots, rates, starts }) => {
    const rate = await measureThroughput(contender, slots, tasks);
    const latencies = await measureStarts(contender, slots, STARTS_PER_ROUND);
    rates.push(rate);
    starts.push(...latencies);
    const start = medianOf(latencies).toFixed(2);
    return `${contender.variant}, ${slots} slots: ${Math.round(rate)} tasks/s, start after ${start} ms`;
  });
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

const LOAD = `Tasks that do nothing. Slots: tasks that run at one time, 16 as in the services. All: equal slots and
durability; medians of rounds, whose order turns.`;
