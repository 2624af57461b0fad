import { tmpdir } from 'node:os';
import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import type { Database } from '@paddock/db/schema/tables';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import { type Kysely, sql } from 'kysely';
import type { Bench } from '../bench.ts';
import { startConsole } from '../console/start-console.ts';
import { alignColumns, medianOf } from '../figures.ts';
import type { Contender } from '../ingress/contender.ts';
import { startLoadGenerator } from '../ingress/load-generator.ts';
import { rateOf } from '../ingress/results.ts';
import { startIngress } from '../ingress/services.ts';
import { matchAndTakeBack, timeOf } from '../match/passes.ts';
import { putActive, putEntities } from '../match/rows.ts';
import { startMatching } from './matching.ts';
import { type Measured, type Measuring, measurePairs, type Run } from './measure-pairs.ts';
import { openPages } from './open-pages.ts';

const CONNECTIONS = [1, 16, 64] as const;
/** Until then the service's code is still being compiled. */
const WARM_UP = 5_000;
const WAITING = 1_000;
const PASSES = 21;

export const beside: Bench = {
  about:
    'deliveries and passes of the matcher, alone, and beside the matcher and ten open pages of the console',
  size: { flag: 'deliveries', usual: 4_000, least: 100, most: 100_000 },
  async run(deliveries, say) {
    const runs = await benchBeside(deliveries, say);
    const table = alignColumns([
      ['measured', 'beside', 'connections', 'alone', 'with it', 'ratio', 'done by it', 'failures'],
      ...runs.map((run) => [
        run.measured,
        run.beside,
        String(run.connections ?? '-'),
        String(run.alone),
        String(run.with_it),
        run.ratio.toFixed(2),
        String(run.done),
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
  await migrate({ url: place.url, schema: place.schema });
  const connection = connectDatabase({ ...place, applicationName: 'bench-beside', poolSize: 4 });
  const { db } = connection;
  const closing: (() => Promise<unknown>)[] = [() => connection.close(), () => generator.close()];
  try {
    const service = await startIngress(place, generator);
    closing.push(() => service.close());
    const console = await startConsole(postgres, place.schema);
    closing.push(() => console.stop());
    const neighbours = {
      matching: () => startMatching(db),
      pages: () => openPages(console),
    };
    const deliver = deliverTo(db, service);
    say('warming up');
    await deliver(64, WARM_UP);
    const runs: Run[] = [];
    for (const side of ['matching', 'pages'] as const) {
      for (const connections of CONNECTIONS) {
        const count = connections === 1 ? Math.ceil(deliveries / 4) : deliveries;
        const what: Measuring = {
          measured: 'deliveries_per_second',
          beside: side,
          connections,
          measure: () => deliver(connections, count),
          start: neighbours[side],
        };
        runs.push(await measurePairs(what, say));
      }
    }
    await empty(db);
    await putEntities(db);
    await putActive(db, WAITING);
    await measurePasses(db);
    const passes: Measuring = {
      measured: 'pass_ms',
      beside: 'pages',
      connections: null,
      measure: () => measurePasses(db),
      start: neighbours.pages,
    };
    runs.push(await measurePairs(passes, say));
    return runs;
  } finally {
    await Promise.all(closing.map((close) => close()));
    await postgres.stop();
    await removeFolder(folder);
  }
}

const empty = (db: Kysely<Database>) =>
  sql`truncate jobs, installation_events, workers, tasks, demand_keys`.execute(db);

/** Deliveries per second that ingress takes, with empty tables each time. */
function deliverTo(db: Kysely<Database>, service: Contender) {
  let firstJobId = 1;
  return async (connections: number, deliveries: number): Promise<Measured> => {
    await empty(db);
    const sample = await service.measure({
      mix: 'queued',
      connections,
      firstJobId,
      count: deliveries,
    });
    firstJobId += deliveries;
    return { value: rateOf(sample), failures: deliveries - sample.acceptedJobIds.length };
  };
}

/** Milliseconds of a pass over waiting jobs that stay: the median of several. */
async function measurePasses(db: Kysely<Database>): Promise<Measured> {
  const times: number[] = [];
  for (let pass = 0; pass < PASSES; pass += 1) times.push(await timeOf(() => matchAndTakeBack(db)));
  return { value: medianOf(times), failures: 0 };
}
