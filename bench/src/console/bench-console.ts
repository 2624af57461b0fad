import { loadavg } from 'node:os';
import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { SCHEMA } from '../burst/system.ts';
import { toHundredths } from '../figures.ts';
import { cpuSecondsOf, postgresCpuSeconds } from '../ingress/cpu-time.ts';
import { type Asked, findAsked } from './asked.ts';
import { buildPage } from './build-page.ts';
import { fillConsole } from './fill.ts';
import { measureFirstLoad, measureSize } from './measure-first-load.ts';
import { measurePages } from './measure-pages.ts';
import { pagesOf } from './pages.ts';
import { isTooMuch, type MeasuredConsole, tableOf } from './results.ts';
import type { ConsoleSizes } from './skewed-year.ts';
import { startConsole } from './start-console.ts';

/** How many questions each page gets, and how many at a time. */
interface Load {
  readonly requests: number;
  readonly clients: number;
}

export const consoleBench: Bench = {
  about: 'each list, trace, usage and why of the console over HTTP, beside a year of rows',
  size: { flag: 'history', usual: 1_000_000, least: 10_000, most: 10_000_000 },
  further: [
    { flag: 'events', usual: 2_000_000, least: 10_000, most: 20_000_000 },
    { flag: 'operations', usual: 1_000_000, least: 10_000, most: 10_000_000 },
    { flag: 'entities', usual: 300, least: 20, most: 10_000 },
    { flag: 'requests', usual: 100, least: 5, most: 1_000 },
    { flag: 'clients', usual: 2, least: 1, most: 10 },
  ],
  async run(history, say, { further }) {
    const { events = 0, operations = 0, entities = 0, requests = 0, clients = 0 } = further;
    // The database is filled again after a crash, so it need not survive one.
    const postgres = await startPostgres({
      durable: true,
      settings: { fsync: 'off', synchronous_commit: 'off', max_wal_size: '8GB' },
    });
    try {
      say(`filling ${history} jobs and workers, ${events} events, ${operations} operations`);
      const asked = await fill(postgres, { history, events, operations, entities });
      const result = await measure(postgres, asked, { requests, clients }, say);
      return { table: tableOf(result), result, failed: isTooMuch(result) };
    } finally {
      await postgres.stop();
    }
  },
};

/** For sorting millions of rows; the console has PostgreSQL's default. */
const MEMORY = '?options=-c%20work_mem%3D256MB%20-c%20maintenance_work_mem%3D512MB';

async function fill(postgres: Postgres, sizes: ConsoleSizes): Promise<Asked> {
  await migrate({ url: postgres.url(), schema: SCHEMA });
  const { db, close } = connectDatabase({
    url: postgres.url() + MEMORY,
    schema: SCHEMA,
    poolSize: 3,
    applicationName: 'bench-console',
    statementTimeoutMs: 0,
  });
  try {
    await fillConsole(db, sizes);
    return await findAsked(db, sizes.entities);
  } finally {
    await close();
  }
}

async function measure(
  postgres: Postgres,
  asked: Asked,
  load: Load,
  say: (line: string) => void,
): Promise<MeasuredConsole> {
  await buildPage();
  const { pid, url, headers, stop } = await startConsole(postgres, SCHEMA);
  try {
    const ask = (path: string) => fetch(`${url}api/v1/${path}`, { headers });
    const before = loadOfMachine();
    const cpuSeconds = async () =>
      (await cpuSecondsOf(pid)) + (await postgresCpuSeconds(postgres.dataDir));
    const pages = await measurePages(pagesOf(asked), { ...load, ask, cpuSeconds, say });
    const session = await fetch(`${url}session`, { method: 'POST', headers });
    const [cookie = ''] = (session.headers.get('set-cookie') ?? '').split(';');
    return {
      pages,
      first_load_ms: await measureFirstLoad({ url, cookie }),
      gzip_kb: await measureSize({ url, cookie }),
      clients: load.clients,
      load_average: { before, after: loadOfMachine() },
    };
  } finally {
    await stop();
  }
}

const loadOfMachine = (): number => toHundredths(loadavg()[0] ?? Number.NaN);
