import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { type Contender, VARIANTS } from './contender.ts';
import { createGraphile } from './graphile.ts';
import { measureStarts, measureThroughput } from './measure.ts';
import { createPaddock } from './paddock.ts';
import { createPgBoss } from './pg-boss.ts';
import { medianOf } from '../figures.ts';
import type { Bench } from '../bench.ts';
import { type Run, tableOf, toRun } from './results.ts';

const ROUNDS = 5;
const STARTS_PER_ROUND = 60;
/** Fewer for whoever takes each task by itself, so that all of them measure for about as long. */
const ONE_BY_ONE_SHARE = 0.2;
const WARM_UP_TASKS = 5_000;
/** No further round is begun after this; a median of fewer is still one. */
const ENOUGH_MS = 110_000;

type Say = (line: string) => void;

export const queue: Bench = {
  about: 'no-op tasks per second and enqueue-to-start latency, beside graphile-worker and pg-boss',
  size: { flag: 'tasks', usual: 20_000, least: 1_000, most: 100_000 },
  async run(tasks, say) {
    const runs = await benchQueue(tasks, say);
    return { table: tableOf(runs), result: { runs } };
  },
};

/**
 * Measures all variants on one PostgreSQL with default durability that is started for this and removed afterwards: one round after the
 * other, each variant once in every round, so that whatever else the machine does falls on all of them.
 */
async function benchQueue(tasks: number, say: Say): Promise<Run[]> {
  const postgres = await startPostgres({ durable: true });
  const contenders: Contender[] = [];
  try {
    const url = postgres.url();
    contenders.push(await createPaddock(url));
    contenders.push(await createGraphile(url, 'graphile-default'), await createGraphile(url, 'graphile-tuned'));
    contenders.push(await createPgBoss(url));
    return await measureAll(contenders, tasks, say);
  } finally {
    await Promise.all(contenders.map((contender) => contender.close()));
    await postgres.stop();
  }
}

async function measureAll(contenders: readonly Contender[], tasks: number, say: Say): Promise<Run[]> {
  const rates = new Map(VARIANTS.map((variant) => [variant, [] as number[]]));
  const starts = new Map(VARIANTS.map((variant) => [variant, [] as number[]]));
  say('warming up');
  for (const contender of contenders) await measureThroughput(contender, WARM_UP_TASKS);
  const deadline = performance.now() + ENOUGH_MS;
  for (let round = 1; round <= ROUNDS && (round === 1 || performance.now() < deadline); round++) {
    for (const contender of contenders) {
      const count = contender.variant === 'graphile-default' ? Math.ceil(tasks * ONE_BY_ONE_SHARE) : tasks;
      const rate = await measureThroughput(contender, count);
      const latencies = await measureStarts(contender, STARTS_PER_ROUND);
      rates.get(contender.variant)?.push(rate);
      starts.get(contender.variant)?.push(...latencies);
      say(
        `round ${round} of ${ROUNDS}: ${contender.variant} ${Math.round(rate)} tasks/s, start after ${medianOf(latencies).toFixed(2)} ms`,
      );
    }
  }
  return VARIANTS.map((variant) => toRun(variant, rates.get(variant) ?? [], starts.get(variant) ?? []));
}
