import { loadavg } from 'node:os';
import { createToken } from '@paddock/api/endpoints';
import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { startService } from '@paddock/testing/processes';
import { admitLogins, createLogins, urlFor } from '@paddock/testing/service-logins';
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
      const filled = await fill(postgres, { history, events, operations, entities });
      const result = await measure(postgres, filled, { requests, clients }, say);
      return { table: tableOf(result), result, failed: isTooMuch(result) };
    } finally {
      await postgres.stop();
    }
  },
};

interface Filled {
  readonly asked: Asked;
  /** Of somebody who may see all. */
  readonly token: string;
}

/** For sorting millions of rows; the console has PostgreSQL's default. */
const MEMORY = '?options=-c%20work_mem%3D256MB%20-c%20maintenance_work_mem%3D512MB';

async function fill(postgres: Postgres, sizes: ConsoleSizes): Promise<Filled> {
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
    const caller = { db, person: 'bench', from: 'terminal' } as const;
    const given = createToken.input.parse({ name: 'bench', access: 'operate' });
    const { token } = await createToken.answer(caller, given);
    return { asked: await findAsked(db, sizes.entities), token };
  } finally {
    await close();
  }
}

/** The console runs in its own process, and its login has its role only, as in production. */
async function measure(
  postgres: Postgres,
  { asked, token }: Filled,
  load: Load,
  say: (line: string) => void,
): Promise<MeasuredConsole> {
  await buildPage();
  const logins = await createLogins(postgres.url());
  await admitLogins(postgres.url(), logins, SCHEMA);
  const service = await startService({
    app: 'console',
    env: {
      DATABASE_URL: urlFor(postgres.url(), logins, 'console'),
      PADDOCK_SCHEMA: SCHEMA,
      PADDOCK_HTTP_HOST: '127.0.0.1',
      PADDOCK_CONSOLE_HTTP_PORT: '0',
      PADDOCK_CONSOLE_HEALTH_PORT: '0',
    },
  });
  try {
    const url = `http://127.0.0.1:${service.port}/`;
    const headers = { authorization: `Bearer ${token}` };
    const ask = (path: string) => fetch(`${url}api/v1/${path}`, { headers });
    const before = loadOfMachine();
    const cpuSeconds = async () =>
      (await cpuSecondsOf(service.pid)) + (await postgresCpuSeconds(postgres.dataDir));
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
    service.kill('SIGTERM');
    await service.exited;
  }
}

const loadOfMachine = (): number => toHundredths(loadavg()[0] ?? Number.NaN);
