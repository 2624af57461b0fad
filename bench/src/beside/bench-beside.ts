import { tmpdir } from 'node:os';
import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import type { Database } from '@paddock/db/schema/tables';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import { type Kysely, sql } from 'kysely';
import type { Bench } from '../bench.ts';
import { alignColumns, medianOf, toHundredths } from '../figures.ts';
import type { Contender } from '../ingress/contender.ts';
import { startLoadGenerator } from '../ingress/load-generator.ts';
import { rateOf } from '../ingress/results.ts';
import { startIngress } from '../ingress/services.ts';
import { startMatching } from './matching.ts';

const ROUNDS = 9;
const CONNECTIONS = [16, 64] as const;
/** Until then the service's code is still being compiled. */
const WARM_UP = 5_000;

/** Medians of the rounds, by the names of the JSON object. */
interface Run {
  readonly connections: number;
  readonly alone_per_second: number;
  readonly beside_per_second: number;
  /** The median of the ratios of each pair of measurements. */
  readonly ratio: number;
  readonly passes: number;
  readonly workers_made: number;
  /** Passes or deliveries that PostgreSQL gave up, deadlocks among them. */
  readonly failures: number;
}

export const beside: Bench = {
  about:
    'deliveries per second that ingress takes, alone and while the matcher runs without extra pauses',
  size: { flag: 'deliveries', usual: 4_000, least: 100, most: 100_000 },
  async run(deliveries, say) {
    const runs = await benchBeside(deliveries, say);
    const table = alignColumns([
      ['connections', 'alone/s', 'beside/s', 'ratio', 'passes', 'workers made', 'failures'],
      ...runs.map((run) => [
        String(run.connections),
        String(run.alone_per_second),
        String(run.beside_per_second),
        run.ratio.toFixed(2),
        String(run.passes),
        String(run.workers_made),
        String(run.failures),
      ]),
    ]);
    return { table, result: { runs } };
  },
};

/** Uses one PostgreSQL with default durability, which it starts and removes. */
async function benchBeside(deliveries: number, say: (line: string) => void): Promise<Run[]> {
  const postgres = await startPostgres({ durable: true });
  const folder = await makeTemporaryFolder(tmpdir());
  const generator = startLoadGenerator();
  const place = { url: postgres.url(), schema: 'paddock', dataDir: postgres.dataDir, folder };
  await migrate(place);
  const connection = connectDatabase({ ...place, applicationName: 'bench-beside', poolSize: 4 });
  let service: Contender | undefined;
  try {
    service = await startIngress(place, generator);
    const measure = measureOn(connection.db, service);
    say('warming up');
    await measure(64, WARM_UP);
    const runs: Run[] = [];
    for (const connections of CONNECTIONS) {
      const pairs: Pair[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        const pair = await measurePair(connection.db, {
          isFirst: round % 2 === 0,
          measure: () => measure(connections, deliveries),
        });
        pairs.push(pair);
        say(
          `${connections} connections, round ${round} of ${ROUNDS}: ${Math.round(pair.alone)} alone, ${Math.round(pair.beside)} beside`,
        );
      }
      runs.push(toRun(connections, pairs));
    }
    return runs;
  } finally {
    await Promise.all([service?.close(), generator.close(), connection.close()]);
    await postgres.stop();
    await removeFolder(folder);
  }
}

interface Measured {
  /** Deliveries per second. */
  readonly rate: number;
  readonly refused: number;
}

/** Measures ingress, with empty tables each time. */
function measureOn(db: Kysely<Database>, service: Contender) {
  let firstJobId = 1;
  return async (connections: number, deliveries: number): Promise<Measured> => {
    await sql`truncate jobs, installation_events, workers, tasks, demand_keys`.execute(db);
    const sample = await service.measure({
      mix: 'queued',
      connections,
      firstJobId,
      count: deliveries,
    });
    firstJobId += deliveries;
    return { rate: rateOf(sample), refused: deliveries - sample.acceptedJobIds.length };
  };
}

/** Ingress alone, and while the matcher runs. */
interface Pair {
  readonly alone: number;
  readonly beside: number;
  readonly passes: number;
  readonly made: number;
  readonly failures: number;
}

/**
 * `isFirst`: ingress alone is measured first, and with the matcher afterwards. The order must
 * alternate.
 */
async function measurePair(
  db: Kysely<Database>,
  { isFirst, measure }: { isFirst: boolean; measure: () => Promise<Measured> },
): Promise<Pair> {
  const before = isFirst ? await measure() : undefined;
  const matching = startMatching(db);
  let disturbed: Measured;
  try {
    disturbed = await measure();
  } finally {
    await matching.stop();
  }
  const alone = before ?? (await measure());
  const { passes, made, failures } = await matching.stop();
  return {
    alone: alone.rate,
    beside: disturbed.rate,
    passes,
    made,
    failures: failures + alone.refused + disturbed.refused,
  };
}

function toRun(connections: number, pairs: readonly Pair[]): Run {
  const sum = (of: (pair: Pair) => number): number =>
    pairs.reduce((total, pair) => total + of(pair), 0);
  return {
    connections,
    alone_per_second: Math.round(medianOf(pairs.map((pair) => pair.alone))),
    beside_per_second: Math.round(medianOf(pairs.map((pair) => pair.beside))),
    ratio: toHundredths(medianOf(pairs.map((pair) => pair.beside / pair.alone))),
    passes: sum((pair) => pair.passes),
    workers_made: sum((pair) => pair.made),
    failures: sum((pair) => pair.failures),
  };
}
