import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { alignColumns, medianOf, quantileOf, toHundredths } from '../figures.ts';
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
    return { table: tableOf(runs), result: { runs } };
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
  return measured.map(({ contender: { variant }, slots, rates, starts }) =>
    toRun({ variant, slots }, rates, starts),
  );
}

/** The printed figures of one variant, by the names of the JSON object. */
interface Run {
  readonly variant: Variant;
  /** The most tasks that ran at one time. */
  readonly slots: number;
  readonly tasks_per_second: number;
  readonly start_p50_ms: number;
  readonly start_p99_ms: number;
}

/** The median of the rounds' rates, and the quantiles of all rounds' latencies together. */
const toRun = (
  of: Pick<Run, 'variant' | 'slots'>,
  rates: readonly number[],
  starts: readonly number[],
): Run => ({
  ...of,
  tasks_per_second: Math.round(medianOf(rates)),
  start_p50_ms: toHundredths(medianOf(starts)),
  start_p99_ms: toHundredths(quantileOf(starts, 0.99)),
});

const LOAD = `
Tasks that do nothing. Slots: tasks that run at one time, 16 as in the services. All: equal slots and
durability; medians of rounds, whose order turns.`;

/** The table for people, and what was measured. */
function tableOf(runs: readonly Run[]): string {
  const graphileWith = (slots: number): number =>
    runs.find((run) => run.variant === 'graphile' && run.slots === slots)?.tasks_per_second ??
    Number.NaN;
  const table = alignColumns([
    ['slots', 'variant', 'tasks/s', 'of graphile', 'start p50 ms', 'start p99 ms'],
    ...runs.map((run) => [
      String(run.slots),
      run.variant,
      String(run.tasks_per_second),
      (run.tasks_per_second / graphileWith(run.slots)).toFixed(2),
      run.start_p50_ms.toFixed(2),
      run.start_p99_ms.toFixed(2),
    ]),
  ]);
  return `${table}
${LOAD}`;
}
