import { tmpdir } from 'node:os';
import { migrate } from '@paddock/db/migrate';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import type { Bench } from '../bench.ts';
import { medianOf, quantileOf, roundedOrNull, toHundredths } from '../figures.ts';
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
    return { tables: { runs }, notes: LOAD };
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
  const plainAt = new Map<number, number>();
  for (const { contender, connections, samples } of measured)
    if (contender.variant === 'plain') plainAt.set(connections, medianOf(samples.map(rateOf)));
  return measured.map(({ contender: { variant }, connections, samples }) =>
    toRun({ variant, connections }, samples, plainAt.get(connections) ?? Number.NaN),
  );
}

/** One connection takes several times as long for each delivery, and has no work to share. */
const countAt = (connections: number, deliveries: number): number =>
  connections === 1 ? Math.ceil(deliveries / 4) : deliveries;

interface CountedSample extends Sample {
  readonly missingRows: number;
}

type Run = ReturnType<typeof toRun>;

/** Medians of the rounds; missing rows are added up. CPU times are null where there is no /proc. */
function toRun(
  of: { readonly variant: Variant; readonly connections: number },
  samples: readonly CountedSample[],
  plainRate: number,
) {
  const median = (value: (sample: CountedSample) => number): number => medianOf(samples.map(value));
  const cpu = (part: 'service' | 'postgres'): number | null =>
    roundedOrNull(
      median(
        ({ cpuSeconds, acceptedJobIds }) => (cpuSeconds[part] * 1_000_000) / acceptedJobIds.length,
      ),
    );
  return {
    ...of,
    per_second: Math.round(median(rateOf)),
    of_plain: toHundredths(median(rateOf) / plainRate),
    p50_ms: toHundredths(median(({ latencies }) => medianOf([...latencies]))),
    p99_ms: toHundredths(median(({ latencies }) => quantileOf([...latencies], 0.99))),
    its_cpu_ms_per_1000: cpu('service'),
    pg_cpu_ms_per_1000: cpu('postgres'),
    missing_rows: samples.reduce((sum, { missingRows }) => sum + missingRows, 0),
  };
}

/** Deliveries that were accepted, per second. */
const rateOf = ({ acceptedJobIds, seconds }: Sample): number => acceptedJobIds.length / seconds;

const LOAD = `queued, in_progress and completed in equal parts, each job's 100 jobs apart, in bodies of 7 KB. plain: one
upsert and one event for each delivery, in its own transaction. Both: equal connections and durability;
medians of rounds, whose order turns.`;
