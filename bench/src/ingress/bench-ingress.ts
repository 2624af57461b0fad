import { tmpdir } from 'node:os';
import { migrate } from '@paddock/db/migrate';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import type { Bench } from '../bench.ts';
import { alignColumns, medianOf, quantileOf, toHundredths } from '../figures.ts';
import { deliveriesOf } from './deliveries.ts';
import type { Load } from './load-thread.ts';
import { openRows, type Rows } from './missing-rows.ts';
import {
  CONNECTIONS,
  type Contender,
  type Place,
  type Sample,
  startLoadGenerator,
  startServices,
  type Variant,
} from './services.ts';

const ROUNDS = 5;
/** No round begins after this; a median of fewer rounds still counts. */
const ENOUGH_MS = 270_000;
/**
 * Until then the services' code is still being compiled: one number for many deliveries at a time,
 * one for single ones.
 */
const WARM_UPS = [
  { connections: 16, deliveries: 5_000 },
  { connections: 1, deliveries: 2_000 },
];

type Say = (line: string) => void;

export const ingress: Bench = {
  about: 'deliveries per second, latency and CPU time, beside a plain handler',
  numbers: { deliveries: 3_000 },
  async run({ numbers: { deliveries = 0 } }, say) {
    const runs = await benchIngress(deliveries, say);
    return { table: tableOf(runs), result: { runs } };
  },
};

/** Measures all on one PostgreSQL with default durability, which it starts and removes. */
async function benchIngress(deliveries: number, say: Say): Promise<Run[]> {
  const postgres = await startPostgres({ durable: true });
  const folder = await makeTemporaryFolder(tmpdir());
  const generator = startLoadGenerator();
  const place: Place = {
    url: postgres.url(),
    schema: 'paddock',
    dataDir: postgres.dataDir,
    folder,
  };
  const rows = openRows(place);
  const contenders: Contender[] = [];
  try {
    await migrate({ url: place.url, schema: place.schema });
    contenders.push(...(await startServices(place, generator)));
    return await measureAll(contenders, rows, deliveries, say);
  } finally {
    await Promise.all([...contenders, rows, generator].map(({ close }) => close()));
    await postgres.stop();
    await removeFolder(folder);
  }
}

/**
 * Rounds follow each other. In every round each contender has one turn with every number of
 * connections, so that the machine's other work slows all of them equally. The order changes in
 * each round.
 */
async function measureAll(
  contenders: readonly Contender[],
  rows: Rows,
  deliveries: number,
  say: Say,
): Promise<Run[]> {
  let firstJobId = 1_000_000;
  const measure = async (
    contender: Contender,
    what: Omit<Load, 'port' | 'firstJobId'>,
  ): Promise<CountedSample> => {
    const load = { ...what, firstJobId };
    firstJobId += what.count;
    await rows.prepare(load);
    const sample = await contender.measure(load);
    const accepted = sample.acceptedJobIds.length;
    const sent = deliveriesOf(load.count);
    if (accepted < sent)
      throw new Error(`${contender.variant} refused ${sent - accepted} of ${sent} deliveries.`);
    return { ...sample, missingRows: await rows.countMissing(sample.acceptedJobIds) };
  };

  say('warming up');
  for (const { connections, deliveries: count } of WARM_UPS)
    for (const contender of contenders) await measure(contender, { connections, count });
  // All contenders follow each other at one number of connections, so that the machine is the same
  // for them.
  const measured = CONNECTIONS.flatMap((connections) =>
    contenders.map((contender) => ({ contender, connections, samples: [] as CountedSample[] })),
  );
  const deadline = performance.now() + ENOUGH_MS;
  for (let round = 1; round <= ROUNDS && (round === 1 || performance.now() < deadline); round++) {
    const inTurn = round % 2 === 1 ? measured : measured.toReversed();
    for (const { contender, connections, samples } of inTurn) {
      const sample = await measure(contender, {
        connections,
        count: countAt(connections, deliveries),
      });
      samples.push(sample);
      say(
        `round ${round} of ${ROUNDS}: ${contender.variant} at ${connections}: ${Math.round(rateOf(sample))} deliveries/s`,
      );
    }
  }
  return measured.map(({ contender: { variant }, connections, samples }) =>
    toRun({ variant, connections }, samples),
  );
}

/** One connection takes several times as long for each delivery, and has no work to share. */
const countAt = (connections: number, deliveries: number): number =>
  connections === 1 ? Math.ceil(deliveries / 4) : deliveries;

/** The printed figures of one variant at one number of connections, by the names of the JSON object. */
interface Run {
  readonly variant: Variant;
  readonly connections: number;
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** Null where the system does not report it. */
  readonly cpu_s_per_1000: { readonly service: number | null; readonly postgres: number | null };
  readonly missing_rows: number;
}

interface CountedSample extends Sample {
  readonly missingRows: number;
}

/** Medians of the rounds; missing rows are added up. */
function toRun(of: Pick<Run, 'variant' | 'connections'>, samples: readonly CountedSample[]): Run {
  const median = (value: (sample: CountedSample) => number): number => medianOf(samples.map(value));
  const cpu = (part: (used: Sample['cpuSeconds']) => number): number | null => {
    const perThousand = median(
      (sample) => (part(sample.cpuSeconds) / sample.acceptedJobIds.length) * 1_000,
    );
    return Number.isNaN(perThousand) ? null : Math.round(perThousand * 1_000) / 1_000;
  };
  return {
    ...of,
    per_second: Math.round(median(rateOf)),
    p50_ms: toHundredths(median(({ latencies }) => medianOf([...latencies]))),
    p99_ms: toHundredths(median(({ latencies }) => quantileOf([...latencies], 0.99))),
    cpu_s_per_1000: {
      service: cpu(({ service }) => service),
      postgres: cpu(({ postgres }) => postgres),
    },
    missing_rows: samples.reduce((sum, { missingRows }) => sum + missingRows, 0),
  };
}

/** Deliveries that were accepted, per second. */
const rateOf = ({ acceptedJobIds, seconds }: Sample): number => acceptedJobIds.length / seconds;

const LOAD = `
queued, in_progress and completed in equal parts, each job's 100 jobs apart, in bodies of 7 KB. plain: one
upsert and one event for each delivery, in its own transaction. Both: equal connections and durability;
medians of rounds, whose order turns.`;

/** The table for people, and what was measured. */
function tableOf(runs: readonly Run[]): string {
  const plainAt = (connections: number): number =>
    runs.find((run) => run.variant === 'plain' && run.connections === connections)?.per_second ??
    Number.NaN;
  const table = alignColumns([
    [
      'variant',
      'connections',
      'deliveries/s',
      'of plain',
      'p50 ms',
      'p99 ms',
      'its CPU s/1000',
      'PG CPU s/1000',
      'missing rows',
    ],
    ...runs.map((run) => [
      run.variant,
      String(run.connections),
      String(run.per_second),
      (run.per_second / plainAt(run.connections)).toFixed(2),
      run.p50_ms.toFixed(2),
      run.p99_ms.toFixed(2),
      run.cpu_s_per_1000.service?.toFixed(3) ?? 'no /proc',
      run.cpu_s_per_1000.postgres?.toFixed(3) ?? 'no /proc',
      String(run.missing_rows),
    ]),
  ]);
  return `${table}\n${LOAD}`;
}
