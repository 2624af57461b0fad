import { connectDatabase, type DatabaseConnection } from '@paddock/db/connection/connect';
import { migrate } from '@paddock/db/migrate';
import { startPostgres } from '@paddock/embedded-postgres/start-postgres';
import type { Database } from '@paddock/db/schema/tables';
import { matchIn } from '@paddock/scheduler/matching/match';
import { GATE } from '@paddock/scheduler/scenes/settings.scene';
import { type Kysely, sql } from 'kysely';
import type { Bench } from '../bench.ts';
import { medianOf, roundedOrNull } from '../figures.ts';
import { putActive, putEntities, putHistory, removeActive } from './rows.ts';

const WAITING = [100, 1_000, 10_000, 100_000] as const;
const ROUNDS = 21;
/**
 * The predecessor's way is repeated until it has taken this long in all, and given up when one pass
 * exceeds the limit.
 */
const PREDECESSOR_ENOUGH_MS = 10_000;
const PREDECESSOR_LIMIT_MS = 60_000;

type Say = (line: string) => void;

export const match: Bench = {
  about:
    'one pass of matching 100 to 100 000 waiting jobs, beside a bare count and the way of one query per job',
  numbers: { history: 1_000_000 },
  async run({ numbers: { history = 0 } }, say) {
    const runs = await benchMatch(history, say);
    return { tables: { runs }, notes: LOAD };
  },
};

/** A separate environment in the one PostgreSQL, with this many finished rows in each table. */
interface Environment {
  readonly connection: DatabaseConnection;
  readonly history: number;
}

/**
 * All passes take turns, on one PostgreSQL with default durability, with no history and with a long
 * one.
 */
async function benchMatch(history: number, say: Say): Promise<Run[]> {
  const postgres = await startPostgres({ durable: true });
  const environments: Environment[] = [];
  try {
    for (const rows of [0, history]) {
      say(`making ${rows} finished rows in each table`);
      environments.push(await createEnvironment(postgres.url(), `history_${rows}`, rows));
    }
    const runs: Run[] = [];
    for (const waiting of WAITING) runs.push(...(await measure(environments, waiting, say)));
    return runs;
  } finally {
    await Promise.all(environments.map(({ connection }) => connection.close()));
    await postgres.stop();
  }
}

async function createEnvironment(
  url: string,
  schema: string,
  history: number,
): Promise<Environment> {
  await migrate({ url, schema });
  // One connection, because a scheduler's passes mostly get the same one; making the rows takes
  // long statements.
  const connection = connectDatabase({
    url,
    schema,
    poolSize: 1,
    applicationName: 'bench-match',
    statementTimeoutMs: 0,
  });
  await putEntities(connection.db);
  await putHistory(connection.db, history);
  return { connection, history };
}

async function measure(
  environments: readonly Environment[],
  waiting: number,
  say: Say,
): Promise<Run[]> {
  const times = environments.map(noTimes);
  const inTurn = async (run: (environment: Environment, times: Times) => Promise<void>) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, environment] of environments.entries())
        await run(environment, times[index] ?? noTimes());
    }
  };
  say(`measuring with ${waiting} waiting jobs`);
  for (const { connection } of environments) await putActive(connection.db, waiting);
  await inTurn(async ({ connection: { db } }, to) => {
    to.floor.push(await timeOf(() => countWaiting(db)));
  });
  // In separate rounds: the first reader after a rolled-back pass removes the dead rows.
  await inTurn(async ({ connection: { db }, history }, to) => {
    to.pass.push(await timeOf(() => matchAndTakeBack(db)));
    if (history > 0) await timePredecessor(db, to.predecessor);
  });
  for (const { connection } of environments) await removeActive(connection.db);
  await inTurn(async ({ connection: { db } }, to) => {
    to.idle.push(await timeOf(() => matchAndTakeBack(db)));
  });
  return environments.map(({ history }, index) =>
    toRun(waiting, history, times[index] ?? noTimes()),
  );
}

/**
 * Adds nothing when it took too long: then the figure is unknown, and a guess would be worthless.
 */
async function timePredecessor(db: DatabaseConnection['db'], times: number[]): Promise<void> {
  const [first] = times;
  const total = times.reduce((sum, time) => sum + time, 0);
  if (total > PREDECESSOR_ENOUGH_MS || first === Infinity) return;
  let isComplete = false;
  const took = await timeOf(
    async () => void (isComplete = await matchOneByOne(db, PREDECESSOR_LIMIT_MS)),
  );
  times.push(isComplete ? took : Infinity);
}

/** Milliseconds of each kind of pass, in all rounds. */
interface Times {
  readonly floor: number[];
  /** Infinity: it was given up. */
  readonly predecessor: number[];
  readonly pass: number[];
  readonly idle: number[];
}

const noTimes = (): Times => ({ floor: [], predecessor: [], pass: [], idle: [] });

type Run = ReturnType<typeof toRun>;

/** Medians in milliseconds; null: not measured with this history, or given up. */
const toRun = (waiting: number, history: number, times: Times) => ({
  waiting,
  history,
  pass_ms: roundedOrNull(medianOf(times.pass)),
  idle_pass_ms: roundedOrNull(medianOf(times.idle)),
  floor_ms: roundedOrNull(medianOf(times.floor)),
  one_by_one_ms: roundedOrNull(medianOf(times.predecessor)),
});

const LOAD = `Jobs of 1 000 entities in 3 pools, one worker in the making for four jobs. pass: all that a scheduler does,
1 000 new workers at most; idle pass: nothing waits. floor: a bare count of the waiting jobs. one by one: two
queries for each waiting job. Medians.`;

const LIMITS = { lockTimeoutMs: 10_000, statementTimeoutMs: 60_000, idleTimeoutMs: 60_000 };
const SETTINGS = { ...GATE, appIds: [1] };

/** Milliseconds that it took. */
async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** The cheapest possible query: the waiting jobs, counted in their index. */
const countWaiting = (db: Kysely<Database>): Promise<unknown> =>
  sql`/* prepared */ select count(*) from jobs where wants_worker`.execute(db);

class TakenBack extends Error {}

/**
 * A whole pass as the scheduler does it, rolled back at its end so that the next one finds the same
 * rows.
 */
async function matchAndTakeBack(db: Kysely<Database>): Promise<void> {
  const pass = db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await matchIn(trx, SETTINGS, LIMITS);
      throw new TakenBack();
    });
  await pass.catch((error: unknown) => {
    if (!(error instanceof TakenBack)) throw error;
  });
}

/**
 * The predecessor's way: read all pending jobs, and for each count the active jobs and workers of
 * its entity and labels. False: it took longer than the limit and was given up.
 */
async function matchOneByOne(db: Kysely<Database>, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  const { rows } = await sql<{ entity_id: number; job_labels: unknown }>`
    select job_id, entity_id, job_labels from jobs where status = 'pending' order by created_at`.execute(
    db,
  );
  for (const { entity_id: entityId, job_labels: labels } of rows) {
    if (performance.now() > deadline) return false;
    for (const table of ['jobs', 'workers']) {
      await sql`select count(*) from ${sql.table(table)}
        where entity_id = ${entityId} and job_labels = ${JSON.stringify(labels)}::jsonb and status in ('pending', 'running')`.execute(
        db,
      );
    }
  }
  return true;
}
