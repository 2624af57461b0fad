import { tmpdir } from 'node:os';
import { migrate } from '@paddock/db/migrate';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import type { Bench } from '../bench.ts';
import type { Contender } from './contender.ts';
import { openLimit } from './limit.ts';
import { startLoadGenerator } from './load-generator.ts';
import { openRows, type Rows } from './missing-rows.ts';
import { type CountedSample, rateOf, type Run, tableOf, toRun } from './results.ts';
import { type Place, startServices } from './services.ts';
import { CONNECTIONS, VARIANTS } from './variants.ts';

const ROUNDS = 5;
/** No further round is begun after this; a median of fewer is still one. */
const ENOUGH_MS = 150_000;
/** Until then the services' code is still being compiled: that for many deliveries at a time, and that for one. */
const WARM_UPS = [
  { connections: 16, deliveries: 5_000 },
  { connections: 1, deliveries: 2_000 },
];

type Say = (line: string) => void;

export const ingress: Bench = {
  about: 'deliveries per second, latency and CPU time of the service, beside a plain handler and the limit',
  size: { flag: 'deliveries', usual: 3_000, least: 100, most: 100_000 },
  async run(deliveries, say) {
    const runs = await benchIngress(deliveries, say);
    return { table: tableOf(runs), result: { runs } };
  },
};

/** Measures all on one PostgreSQL with default durability, which is started for this and removed afterwards. */
async function benchIngress(deliveries: number, say: Say): Promise<Run[]> {
  const postgres = await startPostgres({ durable: true });
  const folder = await makeTemporaryFolder(tmpdir());
  const generator = startLoadGenerator();
  const place: Place = { url: postgres.url(), schema: 'paddock', dataDir: postgres.dataDir, folder };
  const rows = openRows(place);
  const contenders: Contender[] = [];
  try {
    await migrate(place);
    contenders.push(...(await startServices(place, generator)), await openLimit(place));
    return await measureAll(contenders, rows, deliveries, say);
  } finally {
    await Promise.all([...contenders, rows, generator].map(({ close }) => close()));
    await postgres.stop();
    await removeFolder(folder);
  }
}

/**
 * One round after the other, each contender once in every round at every number of connections, so that whatever else the machine does
 * falls on all of them.
 */
async function measureAll(contenders: readonly Contender[], rows: Rows, deliveries: number, say: Say): Promise<Run[]> {
  const samples = new Map<string, CountedSample[]>();
  let firstJobId = 1_000_000;
  const measure = async (contender: Contender, connections: number, count: number): Promise<CountedSample> => {
    await rows.clear();
    const sample = await contender.measure(connections, firstJobId, count);
    firstJobId += count;
    return { ...sample, missingRows: await rows.countMissing(sample.acceptedJobIds) };
  };

  say('warming up');
  for (const { connections, deliveries: count } of WARM_UPS) {
    for (const contender of contenders) await measure(contender, connections, count);
  }
  const deadline = performance.now() + ENOUGH_MS;
  for (let round = 1; round <= ROUNDS && (round === 1 || performance.now() < deadline); round++) {
    for (const connections of CONNECTIONS) {
      for (const contender of contenders.filter((each) => each.connections.includes(connections))) {
        const sample = await measure(contender, connections, countAt(connections, deliveries));
        const key = keyOf(contender.variant, connections);
        samples.set(key, [...(samples.get(key) ?? []), sample]);
        say(`round ${round} of ${ROUNDS}: ${contender.variant} at ${connections}: ${Math.round(rateOf(sample))} deliveries/s`);
      }
    }
  }
  return VARIANTS.flatMap((variant) =>
    CONNECTIONS.flatMap((connections) => {
      const measured = samples.get(keyOf(variant, connections));
      return measured === undefined ? [] : [toRun(variant, connections, measured)];
    }),
  );
}

const keyOf = (variant: string, connections: number): string => `${variant} at ${connections}`;

/** One connection takes several times as long for each, and has nothing to share. */
const countAt = (connections: number, deliveries: number): number => (connections === 1 ? Math.ceil(deliveries / 4) : deliveries);
