import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import { type Bench, onPostgres, say } from '../bench.ts';
import { findGiven, type Given, putActive } from './active.ts';
import { openExplained } from './explain-statements.ts';
import { consoleStatements, type PeriodicStatement, periodicStatements } from './statements.ts';
import { measurePages } from './questions.ts';
import { fillYear, settle } from './year.ts';

const SCHEMA = 'paddock';
/** The second measurement has this many times the activity. */
const MORE = 10;
/** The first run reads the pages from disk that the others find in memory. */
const RUNS = 4;

type Sizes = 'history' | 'events' | 'entities' | 'waiting' | 'living';

export const growth: Bench<Sizes> = {
  about: 'each statement that the clock runs, and the console’s pages, after a year of rows',
  numbers: { history: 2_000_000, events: 3_000_000, entities: 300, waiting: 5_000, living: 3_000 },
  run: ({ waiting, living, ...sizes }) =>
    // The database is filled again after a crash, so it need not survive one. Waiting for the disk
    // would make filling a year take far longer.
    onPostgres({ durable: true, settings: UNSAFE }, async (postgres) => {
      const options = {
        url: postgres.url(),
        schema: SCHEMA,
        applicationName: 'bench-growth',
        statementTimeoutMs: 0,
      };
      await migrate(options);
      const { db, close } = connectDatabase({ ...options, poolSize: 1 });
      const put = async (times: number): Promise<Given> => {
        const { entities } = sizes;
        await putActive(db, { entities, waiting: waiting * times, living: living * times });
        await settle(db);
        return findGiven(db);
      };
      try {
        say(`filling ${sizes.history} jobs and workers, ${sizes.events} events`);
        await fillYear(db, sizes);
        const given = await put(1);
        const pages = await measurePages({ postgres, schema: SCHEMA, db }, given);
        const once = await measureStatements(options, given);
        const more = await measureStatements(options, await put(MORE - 1));
        const statements = once.map((one, nth) => {
          const { ms, buffers } = more[nth] ?? one;
          return Object.assign(one, { more_ms: ms, more_buffers: buffers });
        });
        const slow = [
          ...statements.flatMap(({ name, ms, more_ms }) =>
            ms >= 50 || more_ms >= 200 ? [name] : [],
          ),
          ...pages.flatMap(({ path, p95_ms }) => ((p95_ms ?? 0) >= 100 ? [path] : [])),
        ];
        return {
          tables: { statements, pages },
          notes: slow.length === 0 ? 'none is slow' : `slow: ${slow.join(', ')}`,
          failed: slow.length > 0,
        };
      } finally {
        await close();
      }
    }),
};

const UNSAFE = { fsync: 'off', synchronous_commit: 'off', max_wal_size: '4GB' };

/**
 * The cost of the dearest statement of each function, planned anew as most of them are, with its
 * pages in memory.
 */
async function measureStatements(options: Parameters<typeof openExplained>[0], given: Given) {
  const explained = openExplained(options);
  try {
    const measured: { name: string; ms: number; buffers: number }[] = [];
    for (const [name, run] of Object.entries<PeriodicStatement>({
      ...periodicStatements,
      ...consoleStatements,
    })) {
      let best = { ms: Infinity, buffers: 0 };
      for (let runs = 0; runs < RUNS; runs++) {
        const costs = await explained.explain('fresh', (trx) => run(trx, given));
        const [dearest] = costs.toSorted((a, b) => b.ms - a.ms);
        if (dearest === undefined) throw new Error(`${name} has run no statement.`);
        if (dearest.ms < best.ms) best = dearest;
      }
      const one = { name, ms: Math.round(best.ms * 100) / 100, buffers: best.buffers };
      say(`${name}: ${one.ms} ms, ${one.buffers} buffers`);
      measured.push(one);
    }
    return measured;
  } finally {
    await explained.close();
  }
}
