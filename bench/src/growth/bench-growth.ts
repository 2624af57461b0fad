import { connectDatabase } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Bench } from '../bench.ts';
import { toHundredths } from '../figures.ts';
import { settle } from '../fill-tables.ts';
import { findGiven, type Given, putActive } from './active.ts';
import { openExplained } from './explain-statements.ts';
import {
  consoleStatements,
  type PeriodicStatement,
  periodicStatements,
} from './periodic-statements.ts';
import { type MeasuredPage, measurePages } from './questions.ts';
import { fillYear } from './year.ts';

const SCHEMA = 'paddock';
/** The second measurement has this many times the activity. */
const MORE = 10;
/** The first run reads the pages from disk that the others find in memory. */
const RUNS = 4;

/**
 * The cost of the dearest statement of one function, planned anew as most of them are, with its
 * pages in memory.
 */
interface Measured {
  readonly name: string;
  readonly ms: number;
  readonly buffers: number;
}

/** And the same with ten times as much activity. */
interface Statement extends Measured {
  readonly more_ms: number;
  readonly more_buffers: number;
}

const isSlow = ({ ms, more_ms: more }: Statement): boolean => ms >= 50 || more >= 200;
const isSlowPage = ({ p95_ms: p95 }: MeasuredPage): boolean => p95 >= 100;

export const growth: Bench = {
  about: 'each statement that the clock runs, and the console’s pages, after a year of rows',
  numbers: { history: 2_000_000, events: 3_000_000, entities: 300, waiting: 5_000, living: 3_000 },
  async run({ numbers }, say) {
    const { history = 0, events = 0, entities = 0, waiting = 0, living = 0 } = numbers;
    // The database is filled again after a crash, so it need not survive one. Waiting for the disk
    // would make filling a year take far longer.
    const postgres = await startPostgres({
      durable: true,
      settings: { fsync: 'off', synchronous_commit: 'off', max_wal_size: '4GB' },
    });
    const url = postgres.url();
    await migrate({ url, schema: SCHEMA });
    const options = {
      url,
      schema: SCHEMA,
      applicationName: 'bench-growth',
      statementTimeoutMs: 0,
    };
    const { db, close } = connectDatabase({ ...options, poolSize: 1 });
    const put = async (times: number): Promise<Given> => {
      await putActive(db, { entities, waiting: waiting * times, living: living * times });
      await settle(db);
      return findGiven(db);
    };
    try {
      say(`filling ${history} jobs and workers, ${events} events`);
      await fillYear(db, { history, events, entities });
      const given = await put(1);
      const pages = await measurePages({ postgres, schema: SCHEMA, db }, given, say);
      const once = await measureStatements(options, given, say);
      const more = await measureStatements(options, await put(MORE - 1), say);
      const statements = once.map((one, nth) => {
        const { ms, buffers } = more[nth] ?? one;
        return Object.assign(one, { more_ms: ms, more_buffers: buffers });
      });
      const slow = [
        ...statements.filter(isSlow).map(({ name }) => name),
        ...pages.filter(isSlowPage).map(({ path }) => path),
      ];
      return {
        tables: { statements, pages },
        notes: slow.length === 0 ? 'none is slow' : `slow: ${slow.join(', ')}`,
        failed: slow.length > 0,
      };
    } finally {
      await close();
      await postgres.stop();
    }
  },
};

async function measureStatements(
  options: Parameters<typeof openExplained>[0],
  given: Given,
  say: (line: string) => void,
): Promise<Measured[]> {
  const explained = openExplained(options);
  try {
    const measured: Measured[] = [];
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
      const one = { name, ms: toHundredths(best.ms), buffers: best.buffers };
      say(`${name}: ${one.ms} ms, ${one.buffers} buffers`);
      measured.push(one);
    }
    return measured;
  } finally {
    await explained.close();
  }
}
