import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { SCHEMA } from '../burst/system.ts';
import { settle } from '../fill-tables.ts';
import { putActive } from './active.ts';
import { measureStatements } from './measure-statements.ts';
import {
  haveFailed,
  isSlow,
  type Statement,
  tableOfServices,
  tableOfStatements,
} from './results.ts';
import { runServices } from './run-services.ts';
import { fillYear } from './year.ts';

/** The second measurement has this many times the activity. */
const MORE = 10;

export const growth: Bench = {
  about:
    'each statement that the clock runs, after a year of rows; with --minutes the services on these rows instead',
  size: { flag: 'history', usual: 2_000_000, least: 10_000, most: 10_000_000 },
  further: [
    { flag: 'events', usual: 3_000_000, least: 10_000, most: 20_000_000 },
    { flag: 'entities', usual: 300, least: 10, most: 10_000 },
    { flag: 'waiting', usual: 5_000, least: 100, most: 100_000 },
    { flag: 'living', usual: 3_000, least: 100, most: 100_000 },
    { flag: 'minutes', usual: 0, least: 0, most: 1_440 },
  ],
  async run(history, say, { further }) {
    const { events = 0, entities = 0, waiting = 0, living = 0, minutes = 0 } = further;
    // The database is filled again after a crash, so it need not survive one. Waiting for the disk
    // would make filling a year take far longer.
    const postgres = await startPostgres({
      durable: true,
      settings: { fsync: 'off', synchronous_commit: 'off', max_wal_size: '4GB' },
    });
    try {
      const active = { entities, waiting, living };
      say(`filling ${history} jobs and workers, ${events} events`);
      await fill(postgres, async (db) => {
        await fillYear(db, { history, events, entities });
        await putActive(db, active);
      });
      if (minutes > 0) {
        const services = await runServices(postgres, { entities, minutes, say });
        return { table: tableOfServices(services), result: services, failed: haveFailed(services) };
      }
      const options = { url: postgres.url(), schema: SCHEMA, say };
      const once = await measureStatements(options);
      await fill(postgres, (db) =>
        putActive(db, { entities, waiting: waiting * (MORE - 1), living: living * (MORE - 1) }),
      );
      const more = await measureStatements(options);
      const statements = once.map((one, index): Statement =>
        Object.assign({ more: more[index] ?? one }, one),
      );
      return {
        table: tableOfStatements(statements),
        result: { statements },
        failed: statements.some(isSlow),
      };
    } finally {
      await postgres.stop();
    }
  },
};

type Filling = (db: ReturnType<typeof connectDatabase>['db']) => Promise<void>;

async function fill(postgres: Postgres, filling: Filling): Promise<void> {
  await migrate({ url: postgres.url(), schema: SCHEMA });
  const options = {
    url: postgres.url(),
    schema: SCHEMA,
    poolSize: 1,
    applicationName: 'bench-growth',
    statementTimeoutMs: 0,
  };
  const connection = connectDatabase(options);
  try {
    await filling(connection.db);
    await settle(connection.db);
  } finally {
    await connection.close();
  }
}
