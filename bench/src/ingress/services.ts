import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { connectDatabase } from '@paddock/db/connection/connect';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { type ProgramStart, startProgram } from '@paddock/processes/start-program';
import { untilReady } from '@paddock/processes/until-ready';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { cpuSecondsOf, postgresCpuSeconds } from '../cpu-time.ts';
import { APP_ID } from '../programs.ts';
import { POOL, WEBHOOK_SECRET } from './deliveries.ts';
import type { Load, LoadResult } from './load-thread.ts';

export type Variant = 'paddock' | 'plain';

/** How many connections deliver at once. */
export const CONNECTIONS = [1, 16, 64, 256] as const;

/** One measurement. The latencies of deliveries are in milliseconds. */
export interface Sample extends LoadResult {
  readonly cpuSeconds: { readonly service: number; readonly postgres: number };
}

/** A service that writes deliveries into the tables. */
export interface Contender {
  readonly variant: Variant;
  measure(load: Omit<Load, 'port'>): Promise<Sample>;
  close(): Promise<void>;
}

/**
 * Delivers over HTTP, in a separate thread: other work of this process, such as reading logs, must
 * not delay a delivery.
 */
export interface LoadGenerator {
  /**
   * `onStart` is called when everything is signed and connected, just before the first delivery is
   * sent.
   */
  run(load: Load, onStart: () => Promise<void>): Promise<LoadResult>;
  close(): Promise<void>;
}

export function startLoadGenerator(): LoadGenerator {
  const thread = new Worker(new URL('load-thread.ts', import.meta.url));
  return {
    run: async (load, onStart) => {
      thread.postMessage(load, []);
      await once(thread, 'message');
      await onStart();
      thread.postMessage('start', []);
      const [result] = (await once(thread, 'message')) as [LoadResult];
      return result;
    },
    close: async () => void (await thread.terminate()),
  };
}

const INGRESS = join(import.meta.dirname, '..', '..', '..', 'apps', 'ingress', 'src', 'main.ts');
const PLAIN = join(import.meta.dirname, 'plain-service.ts');

export interface Place {
  readonly url: string;
  readonly schema: string;
  /** The CPU time of PostgreSQL. */
  readonly dataDir: string;
  /** The folder for files of this bench. */
  readonly folder: string;
}

/** Starts both services, each in a separate process. */
export async function startServices(place: Place, generator: LoadGenerator): Promise<Contender[]> {
  const ours = await environmentOf(place);
  return [
    await startService('paddock', { program: INGRESS, env: ours }, place, generator),
    await startService(
      'plain',
      { program: PLAIN, args: [place.url, place.schema], env: { NODE_ENV: 'production' } },
      place,
      generator,
    ),
  ];
}

async function environmentOf(place: Place) {
  const document = examplePools({ pools: [POOL], entities: { '*': {} } });
  await loadPools(place, document);
  return {
    DATABASE_URL: place.url,
    PADDOCK_SCHEMA: place.schema,
    PADDOCK_CONFIG: await writeConfig(place.folder, document),
    PADDOCK_PUBLIC_PORT: '0',
    PADDOCK_HEALTH_PORT: '0',
    PADDOCK_HTTP_HOST: '127.0.0.1',
    NODE_ENV: 'production',
    WEBHOOK_SECRET,
  };
}

/** Does the scheduler's part, which does not run. */
async function loadPools({ url, schema }: Place, document: PoolsDocument): Promise<void> {
  const { db, close } = connectDatabase({
    url,
    schema,
    poolSize: 1,
    applicationName: 'bench-ingress',
  });
  await putPools(db, document);
  await close();
}

/** JSON is YAML. */
async function writeConfig(folder: string, document: PoolsDocument): Promise<string> {
  const file = join(folder, 'paddock.yaml');
  const apps = [{ id: APP_ID, webhookSecret: { env: 'WEBHOOK_SECRET' } }];
  await writeFile(file, JSON.stringify({ github: { apps }, ...document }));
  return file;
}

async function startService(
  variant: Variant,
  start: ProgramStart,
  { dataDir }: Place,
  generator: LoadGenerator,
): Promise<Contender> {
  const service = await startProgram(start);
  const { pid, port } = service;
  if (port === undefined) throw new Error(`The service "${variant}" did not say where it listens.`);
  await untilReady(service.healthPort);
  const cpu = async () => ({
    service: await cpuSecondsOf(pid),
    postgres: await postgresCpuSeconds(dataDir),
  });
  return {
    variant,
    async measure(load) {
      let before = await cpu();
      const result = await generator.run({ ...load, port }, async () => {
        before = await cpu();
      });
      const after = await cpu();
      return {
        ...result,
        cpuSeconds: {
          service: after.service - before.service,
          postgres: after.postgres - before.postgres,
        },
      };
    },
    async close() {
      service.kill('SIGTERM');
      await service.exited;
    },
  };
}
