import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { connectDatabase } from '@paddock/db/connection/connect';
import { onlyRowOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { migrate } from '@paddock/db/migrate';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import { type Program, startProgram, untilReady } from '@paddock/processes/start-program';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { appProgram, LOCAL } from '@paddock/testing/processes';
import { sql } from 'kysely';
import {
  type Bench,
  inRounds,
  onPostgres,
  say,
  medianOf,
  quantileOf,
  toHundredths,
  APP_ID,
} from '../bench.ts';
import { fillYear } from '../growth/year.ts';
import { deliveriesOf, ENTITY, jobsOf, POOL, WEBHOOK_SECRET, workerOf } from './deliveries.ts';
import type { Load, LoadResult } from './load-thread.ts';

/** How many connections deliver at once. */
const CONNECTIONS = [1, 16, 64, 256] as const;
/**
 * Until then the services' code is still being compiled: one number for many deliveries at a time,
 * one for single ones.
 */
const WARM_UPS = [
  { connections: 16, count: 5_000 },
  { connections: 1, count: 2_000 },
];

export const ingress: Bench<keyof Sizes> = {
  about: 'deliveries per second and their cost, beside a plain handler, after `history` ended jobs',
  numbers: { deliveries: 3_000, rounds: 5, history: 0 },
  run: (sizes) =>
    onPostgres({ durable: true }, async (postgres) => {
      const folder = await makeTemporaryFolder(tmpdir());
      // Other work of this thread, such as reading logs, must not delay a delivery.
      const thread = new Worker(new URL('load-thread.ts', import.meta.url));
      try {
        const place = { url: postgres.url(), schema: 'paddock', applicationName: 'bench-ingress' };
        await migrate(place);
        const { db, close } = connectDatabase({ ...place, poolSize: 1 });
        const { history } = sizes;
        if (history > 0) await fillYear(db, { history, events: 2 * history, entities: 300 });
        // Does the scheduler's part, which does not run.
        await putPools(db, POOLS);
        const services: Service[] = [];
        try {
          for await (const service of startServices(place, folder)) services.push(service);
          let firstJobId = 1_000_000_000;
          const measure: Measure = async ({ variant, program: { pid, port = 0 } }, what) => {
            const load = { ...what, firstJobId, port, cpuOf: { pid, dataDir: postgres.dataDir } };
            firstJobId += what.count;
            await putWorkers(db, load);
            thread.postMessage(load, []);
            const [result] = (await once(thread, 'message')) as [LoadResult];
            if (result.refused > 0)
              throw new Error(`${variant} refused ${result.refused} deliveries.`);
            return { ...result, missingRows: await countMissing(db, load) };
          };
          return { tables: [await measureAll(services, sizes, measure)], notes: LOAD };
        } finally {
          for (const { program } of services) program.kill('SIGTERM');
          await Promise.all(services.map(({ program }) => program.exited));
          await close();
        }
      } finally {
        await thread.terminate();
        await removeFolder(folder);
      }
    }),
};

interface Service {
  readonly variant: 'paddock' | 'plain';
  readonly program: Program;
}

const POOLS = examplePools({ pools: [POOL] });

/** Starts both services, each in a separate process. */
async function* startServices(
  { url, schema }: { readonly url: string; readonly schema: string },
  folder: string,
): AsyncGenerator<Service> {
  const config = join(folder, 'paddock.yaml');
  const apps = [{ id: APP_ID, webhookSecret: { env: 'WEBHOOK_SECRET' } }];
  // JSON is YAML.
  await writeFile(config, JSON.stringify({ github: { apps }, ...POOLS }));
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: url,
    PADDOCK_SCHEMA: schema,
    PADDOCK_CONFIG: config,
    WEBHOOK_SECRET,
    ...LOCAL,
  };
  for (const [variant, program, args] of [
    ['paddock', appProgram('ingress'), []],
    ['plain', join(import.meta.dirname, 'plain-service.ts'), [url, schema]],
  ] as const) {
    const started = await startProgram({ program, args, env });
    yield { variant, program: started };
    await untilReady(started.healthPort);
  }
}

type Sample = LoadResult & { readonly missingRows: number };
type Measure = (service: Service, load: Pick<Load, 'connections' | 'count'>) => Promise<Sample>;

type Sizes = Readonly<Record<'deliveries' | 'rounds' | 'history', number>>;

/** All services follow each other at one number of connections: the machine is the same for them. */
async function measureAll(
  services: readonly Service[],
  { deliveries, rounds }: Sizes,
  measure: Measure,
): Promise<object[]> {
  say('warming up');
  for (const load of WARM_UPS) for (const service of services) await measure(service, load);
  const measured = CONNECTIONS.flatMap((connections) =>
    services.map((service) => ({ service, connections, samples: [] as Sample[] })),
  );
  await inRounds(rounds, measured, async ({ service, connections, samples }) => {
    // One connection takes several times as long for each delivery, and has no work to share.
    const count = connections === 1 ? Math.ceil(deliveries / 4) : deliveries;
    const sample = await measure(service, { connections, count });
    samples.push(sample);
    return `${service.variant} at ${connections}: ${Math.round(rateOf(sample))} deliveries/s`;
  });
  const plainAt = new Map<number, number>();
  for (const { service, connections, samples } of measured)
    if (service.variant === 'plain') plainAt.set(connections, medianOf(samples.map(rateOf)));
  return measured.map(({ service: { variant }, connections, samples }) => {
    const plainRate = plainAt.get(connections) ?? Number.NaN;
    return Object.assign({ variant, connections }, figuresOf(samples, plainRate));
  });
}

/**
 * Adds the workers that will run the jobs. Rows of earlier measurements stay, as in life: after a
 * TRUNCATE each of the services' connections would make all its plans again.
 */
async function putWorkers(db: Db, { firstJobId, count }: Load): Promise<void> {
  await sql`
    insert into workers (pod_name, status, entity_id, entity_name, entity_type, app_id, installation_id, scope_repo_id, job_labels, k8s_pool,
      k8s_image, pools_version, namespace, pod_uid, running_at, runner_id)
    select ${workerOf('')} || n, 'running', ${ENTITY.id}, ${ENTITY.login}, ${ENTITY.type}, ${APP_ID}, 31, 0, ${JSON.stringify(POOL.labels)}, ${POOL.name},
      ${POOL.image}, 1, 'runners', n, now(), n
    from generate_series(${firstJobId}::bigint, ${firstJobId + jobsOf(count) - 1}::bigint) n`.execute(
    db,
  );
}

/**
 * How many rows are missing or wrong: each job must have one that has completed, and each delivery
 * one.
 */
async function countMissing(db: Db, { firstJobId, count }: Load): Promise<number> {
  const { missing } = await onlyRowOf<{ missing: number }>(db)`
    select (greatest(0, ${jobsOf(count)} - (select count(*) from jobs where status = 'completed' and job_id >= ${firstJobId}))
      + greatest(0, ${deliveriesOf(count)} - (select count(*) from installation_events where job_id >= ${firstJobId})))::integer as missing`;
  return missing;
}

/** Medians of the rounds; missing rows are added up. CPU times are null where there is no /proc. */
function figuresOf(samples: readonly Sample[], plainRate: number): object {
  const median = (value: (sample: Sample) => number): number => medianOf(samples.map(value));
  const cpu = (part: keyof Sample['cpuSeconds']): number | null =>
    toHundredths(
      median(({ cpuSeconds, latencies }) => (cpuSeconds[part] * 1_000_000) / latencies.length),
    );
  return {
    per_second: Math.round(median(rateOf)),
    of_plain: toHundredths(median(rateOf) / plainRate),
    p50_ms: toHundredths(median(({ latencies }) => medianOf([...latencies]))),
    p99_ms: toHundredths(median(({ latencies }) => quantileOf([...latencies], 0.99))),
    its_cpu_ms_per_1000: cpu('service'),
    pg_cpu_ms_per_1000: cpu('postgres'),
    missing_rows: samples.reduce((sum, { missingRows }) => sum + missingRows, 0),
  };
}

const rateOf = ({ latencies, seconds }: Sample): number => latencies.length / seconds;

const LOAD = `queued, in_progress and completed in equal parts, each job's 100 jobs apart, in bodies of 7 KB. plain: one
upsert and one event for each delivery, in its own transaction. Both: equal connections and durability;
medians of rounds, whose order turns.`;
