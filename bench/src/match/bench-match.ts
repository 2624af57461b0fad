import { connectDatabase } from '@paddock/db/connection/connect';
import type { Db } from '@paddock/db/schema/tables';
import { migrate } from '@paddock/db/migrate';
import { matchIn } from '@paddock/scheduler/matching/match';
import { sql } from 'kysely';
import { type Bench, onPostgres, say } from '../bench.ts';
import { medianOf, toHundredths } from '../figures.ts';
import { SETTINGS } from '../growth/statements.ts';
import { entity, ENTITY_COLUMNS, fillHistory, NAMESPACE, numbers, settle } from '../growth/year.ts';

const WAITING = [100, 1_000, 10_000, 100_000] as const;
const ENTITIES = 1_000;
const ROUNDS = 21;
/**
 * The predecessor's way is repeated until it has taken this long in all, and given up when one pass
 * exceeds the limit.
 */
const PREDECESSOR_ENOUGH_MS = 10_000;
const PREDECESSOR_LIMIT_MS = 60_000;

/** All passes take turns, on one PostgreSQL with default durability. */
export const match: Bench<'history'> = {
  about:
    'one pass of matching 100 to 100 000 waiting jobs, beside a bare count and the way of one query per job',
  numbers: { history: 1_000_000 },
  run: ({ history }) =>
    onPostgres({ durable: true }, async (postgres) => {
      const environments: Environment[] = [];
      try {
        for (const rows of [0, history])
          environments.push(await createEnvironment(postgres.url(), rows));
        const runs: object[] = [];
        for (const waiting of WAITING) runs.push(...(await measure(environments, waiting)));
        return { tables: [runs], notes: LOAD };
      } finally {
        await Promise.all(environments.map(({ close }) => close()));
      }
    }),
};

type Environment = Awaited<ReturnType<typeof createEnvironment>>;

/** A separate environment in the one PostgreSQL, with this many finished rows in each table. */
async function createEnvironment(url: string, history: number) {
  say(`making ${history} finished rows in each table`);
  const schema = `history_${history}`;
  await migrate({ url, schema });
  // One connection, because a scheduler's passes mostly get the same one; making the rows takes
  // long statements.
  const { db, close } = connectDatabase({
    url,
    schema,
    poolSize: 1,
    applicationName: 'bench-match',
    statementTimeoutMs: 0,
  });
  await fillHistory(db, { history, entities: ENTITIES, cap: 20 });
  await settle(db);
  return { db, close, history };
}

/** Milliseconds of each kind of pass, in all rounds; Infinity: it was given up. */
const noTimes = (): Record<'floor' | 'predecessor' | 'pass' | 'idle', number[]> => ({
  floor: [],
  predecessor: [],
  pass: [],
  idle: [],
});

/** Medians in milliseconds; null: not measured with this history, or given up. */
async function measure(environments: readonly Environment[], waiting: number): Promise<object[]> {
  const measured = environments.map((each) => ({ ...each, times: noTimes() }));
  const inTurn = async (run: (environment: (typeof measured)[number]) => Promise<unknown>) => {
    for (let round = 0; round < ROUNDS; round += 1) for (const each of measured) await run(each);
  };
  say(`measuring with ${waiting} waiting jobs`);
  for (const { db } of measured) await putActive(db, waiting);
  await inTurn(async ({ db, times }) => times.floor.push(await timeOf(() => countWaiting(db))));
  // In separate rounds: the first reader after a rolled-back pass removes the dead rows.
  await inTurn(async ({ db, history, times }) => {
    times.pass.push(await timeOf(() => matchAndTakeBack(db)));
    if (history > 0) await timePredecessor(db, times.predecessor);
  });
  for (const { db } of measured) await removeActive(db);
  await inTurn(async ({ db, times }) => times.idle.push(await timeOf(() => matchAndTakeBack(db))));
  return measured.map(({ history, times }) => ({
    waiting,
    history,
    pass_ms: toHundredths(medianOf(times.pass)),
    idle_pass_ms: toHundredths(medianOf(times.idle)),
    floor_ms: toHundredths(medianOf(times.floor)),
    one_by_one_ms: toHundredths(medianOf(times.predecessor)),
  }));
}

/** Numbers of waiting jobs and their workers begin here, beyond any history. */
const FIRST = 1_000_000_000;
/** One in this many waiting jobs has a worker in the making, and one worker runs a job. */
const WAITING_PER_WORKER = 4;

async function putActive(db: Db, waiting: number): Promise<void> {
  await sql`
    insert into jobs (job_id, run_id, run_attempt, job_name, repo_id, repo_full_name, created_at, ${ENTITY_COLUMNS}, status, wants_worker)
    select n, n, 1, 'build', n % 5000 + 1, 'entity/repository-' || n % 5000, now() - n % 1000000 * interval '1 millisecond', ${entity(ENTITIES)}, 'pending', true
    from ${numbers(FIRST, waiting)}`.execute(db);
  for (const [first, assignedAt] of [
    [FIRST, sql`null::timestamptz`],
    [2 * FIRST, sql`now()`],
  ] as const)
    // With pods, and so with registrations: no pass gives them back.
    await sql`
      insert into workers (pod_name, made_for_job_id, namespace, ${ENTITY_COLUMNS}, status, assigned_at, pod_uid, registration_started_at, registered_at)
      select 'pdk-abc123-bench-' || n, n, ${NAMESPACE}, ${entity(ENTITIES)}, 'pending', ${assignedAt}, 'uid', now(), now()
      from ${numbers(first, waiting / WAITING_PER_WORKER)}`.execute(db);
  await settle(db);
}

async function removeActive(db: Db): Promise<void> {
  await sql`delete from jobs where job_id >= ${FIRST}`.execute(db);
  await sql`delete from workers where made_for_job_id >= ${FIRST}`.execute(db);
  await settle(db);
}

/**
 * Adds nothing when it took too long: then the figure is unknown, and a guess would be worthless.
 */
async function timePredecessor(db: Db, times: number[]): Promise<void> {
  const total = times.reduce((sum, time) => sum + time, 0);
  if (total > PREDECESSOR_ENOUGH_MS) return;
  let isComplete = false;
  const took = await timeOf(async () => void (isComplete = await matchOneByOne(db)));
  times.push(isComplete ? took : Infinity);
}

const LOAD = `Jobs of 1 000 entities in 20 pools, one worker in the making for four jobs. pass: all that a scheduler does,
1 000 new workers at most; idle pass: nothing waits. floor: a bare count of the waiting jobs. one by one: two
queries for each waiting job. Medians.`;

const LIMITS = { lockTimeoutMs: 10_000, statementTimeoutMs: 60_000, idleTimeoutMs: 60_000 };

/** Milliseconds that it took. */
async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** The cheapest possible query: the waiting jobs, counted in their index. */
const countWaiting = (db: Db): Promise<unknown> =>
  sql`/* prepared */ select count(*) from jobs where wants_worker`.execute(db);

/**
 * A whole pass as the scheduler does it, rolled back at its end so that the next one finds the same
 * rows.
 */
async function matchAndTakeBack(db: Db): Promise<void> {
  const trx = await db.startTransaction().setIsolationLevel('read committed').execute();
  try {
    await matchIn(trx, SETTINGS, LIMITS);
  } finally {
    await trx.rollback().execute();
  }
}

/**
 * The predecessor's way: read all pending jobs, and for each count the active jobs and workers of
 * its entity and labels. False: it took longer than the limit and was given up.
 */
async function matchOneByOne(db: Db): Promise<boolean> {
  const deadline = performance.now() + PREDECESSOR_LIMIT_MS;
  const { rows } = await sql<{ entity_id: number; job_labels: unknown }>`
    select job_id, entity_id, job_labels from jobs where status = 'pending' order by created_at`.execute(
    db,
  );
  for (const { entity_id: entityId, job_labels: labels } of rows) {
    if (performance.now() > deadline) return false;
    for (const table of ['jobs', 'workers'])
      await sql`select count(*) from ${sql.table(table)}
        where entity_id = ${entityId} and job_labels = ${JSON.stringify(labels)}::jsonb and status in ('pending', 'running')`.execute(
        db,
      );
  }
  return true;
}
