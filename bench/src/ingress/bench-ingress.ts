import { tmpdir } from 'node:os';
import { migrate } from '@paddock/db/migrate';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import type { Bench } from '../bench.ts';
import { alignColumns, medianOf, quantileOf, toHundredths } from '../figures.ts';
import { type Contender, type Sample, type Variant, VARIANTS } from './contender.ts';
import { deliveriesOf, type Mix, MIXES } from './deliveries.ts';
import { openLimit } from './limit.ts';
import type { Load } from './load-thread.ts';
import { openRows, type Rows } from './missing-rows.ts';
import { type Place, startLoadGenerator, startServices } from './services.ts';

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
  about:
    'deliveries per second of all kinds and of new jobs, latency and CPU time, beside a plain handler and the limit',
  size: { flag: 'deliveries', usual: 3_000, least: 100, most: 100_000 },
  async run(deliveries, say) {
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
    contenders.push(...(await startServices(place, generator)), await openLimit(place));
    return await measureAll(contenders, rows, deliveries, say);
  } finally {
    await Promise.all([...contenders, rows, generator].map(({ close }) => close()));
    await postgres.stop();
    await removeFolder(folder);
  }
}

/**
 * Rounds follow each other. In every round each contender has one turn with every mix and number of
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
    const sent = deliveriesOf(load.mix, load.count);
    if (accepted < sent)
      throw new Error(
        `${contender.variant} refused ${sent - accepted} of ${sent} deliveries (${load.mix}).`,
      );
    return { ...sample, missingRows: await rows.countMissing(what.mix, sample.acceptedJobIds) };
  };

  say('warming up');
  for (const mix of MIXES) {
    for (const { connections, deliveries: count } of WARM_UPS) {
      for (const contender of contenders.filter(({ mixes }) => mixes.includes(mix)))
        await measure(contender, { mix, connections, count });
    }
  }
  const measured = MIXES.flatMap((mix) =>
    VARIANTS.flatMap((variant) =>
      contenders
        .filter((contender) => contender.variant === variant && contender.mixes.includes(mix))
        .flatMap((contender) =>
          contender.connections.map((connections) => ({
            contender,
            mix,
            variant,
            connections,
            samples: [] as CountedSample[],
          })),
        ),
    ),
  );
  // All contenders follow each other at one number of connections, so that the machine is the same
  // for them.
  const inTurn = measured.toSorted(
    (a, b) => MIXES.indexOf(a.mix) - MIXES.indexOf(b.mix) || a.connections - b.connections,
  );
  const deadline = performance.now() + ENOUGH_MS;
  for (let round = 1; round <= ROUNDS && (round === 1 || performance.now() < deadline); round++) {
    for (const { contender, mix, variant, connections, samples } of round % 2 === 1
      ? inTurn
      : inTurn.toReversed()) {
      const sample = await measure(contender, {
        mix,
        connections,
        count: countAt(connections, deliveries),
      });
      samples.push(sample);
      say(
        `round ${round} of ${ROUNDS}: ${variant}, ${mix} at ${connections}: ${Math.round(rateOf(sample))} deliveries/s`,
      );
    }
  }
  return measured.map(({ samples, ...of }) => toRun(of, samples));
}

/** One connection takes several times as long for each delivery, and has no work to share. */
const countAt = (connections: number, deliveries: number): number =>
  connections === 1 ? Math.ceil(deliveries / 4) : deliveries;

/**
 * The printed figures of one variant with one mix at one number of connections, by the names of the
 * JSON object.
 */
interface Run {
  readonly mix: Mix;
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
function toRun(
  { mix, variant, connections }: Pick<Run, 'mix' | 'variant' | 'connections'>,
  samples: readonly CountedSample[],
): Run {
  const median = (of: (sample: CountedSample) => number): number => medianOf(samples.map(of));
  const cpu = (of: (used: Sample['cpuSeconds']) => number): number | null => {
    const perThousand = median(
      (sample) => (of(sample.cpuSeconds) / sample.acceptedJobIds.length) * 1_000,
    );
    return Number.isNaN(perThousand) ? null : Math.round(perThousand * 1_000) / 1_000;
  };
  return {
    mix,
    variant,
    connections,
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
mixed: queued, in_progress and completed in equal parts, each job's 100 jobs apart. queued: new jobs only,
the best case. Bodies of 7 KB. plain: one upsert and one event for each delivery, in its own transaction.
limit: the same rows of new jobs without HTTP. All: equal connections and durability; medians of rounds,
whose order turns.`;

/** The table for people, and what was measured. */
function tableOf(runs: readonly Run[]): string {
  const ofPlain = ({ mix, connections, per_second: rate }: Run): number =>
    rate /
    (runs.find(
      (run) => run.variant === 'plain' && run.mix === mix && run.connections === connections,
    )?.per_second ?? Number.NaN);
  const table = alignColumns([
    [
      'deliveries',
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
      run.mix,
      run.variant,
      String(run.connections),
      String(run.per_second),
      ofPlain(run).toFixed(2),
      run.p50_ms.toFixed(2),
      run.p99_ms.toFixed(2),
      run.cpu_s_per_1000.service?.toFixed(3) ?? 'no /proc',
      run.cpu_s_per_1000.postgres?.toFixed(3) ?? 'no /proc',
      String(run.missing_rows),
    ]),
  ]);
  return `${table}
${LOAD}`;
}
