import { connectDatabase } from '@paddock/db/connection/connect';
import type { Db } from '@paddock/db/schema/tables';
import { findDemand } from '@paddock/db/matching/demand';
import { migrate } from '@paddock/db/migrate';
import { matchIn } from '@paddock/scheduler/matching/match';
import { sql } from 'kysely';
import { type Bench, onPostgres, say, medianOf, toHundredths } from '../bench.ts';
import { SETTINGS } from '../growth/statements.ts';
import { entity, ENTITY_COLUMNS, fillHistory, NAMESPACE, numbers, settle } from '../growth/year.ts';

const WAITING = [1_000, 10_000, 100_000] as const;
const ENTITIES = 1_000;
const ROUNDS = 21;
/** All passes take turns, on one PostgreSQL with default durability. */
export const match: Bench<'history'> = {
  about: 'one pass of matching 1 000 to 100 000 waiting jobs, beside a bare count of them',
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

/** Milliseconds of each kind of pass, in all rounds. */
const noTimes = (): Record<'floor' | 'perKey' | 'pass' | 'idle', number[]> => ({
  floor: [],
  perKey: [],
  pass: [],
  idle: [],
});

/** Medians in milliseconds. */
async function measure(environments: readonly Environment[], waiting: number): Promise<object[]> {
  const measured = environments.map((each) => ({ ...each, times: noTimes() }));
  const inTurn = async (run: (environment: (typeof measured)[number]) => Promise<unknown>) => {
    for (let round = 0; round < ROUNDS; round += 1) for (const each of measured) await run(each);
  };
  say(`measuring with ${waiting} waiting jobs`);
  for (const { db } of measured) await putActive(db, waiting);
  await inTurn(async ({ db, times }) => times.floor.push(await timeOf(() => countWaiting(db))));
  const { appIds } = SETTINGS;
  await inTurn(async ({ db, times }) =>
    times.perKey.push(await timeOf(() => findDemand(db, appIds))),
  );
  // In separate rounds: the first reader after a rolled-back pass removes the dead rows.
  await inTurn(async ({ db, times }) => times.pass.push(await timeOf(() => matchAndTakeBack(db))));
  for (const { db } of measured) await removeActive(db);
  await inTurn(async ({ db, times }) => times.idle.push(await timeOf(() => matchAndTakeBack(db))));
  return measured.map(({ history, times }) => ({
    waiting,
    history,
    pass_ms: toHundredths(medianOf(times.pass)),
    idle_pass_ms: toHundredths(medianOf(times.idle)),
    floor_ms: toHundredths(medianOf(times.floor)),
    per_key_ms: toHundredths(medianOf(times.perKey)),
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
    // With pods, and so with registrations: no pass gives them back. GitHub's limits spread the
    // registrations of many workers over an hour.
    await sql`
      insert into workers (pod_name, made_for_job_id, namespace, ${ENTITY_COLUMNS}, status, assigned_at, pod_uid, created_at, registration_started_at, registered_at)
      select 'pdk-abc123-bench-' || n, n, ${NAMESPACE}, ${entity(ENTITIES)}, 'pending', ${assignedAt}, 'uid', made_at, made_at, made_at
      from (select n, now() - n % 3600 * interval '1 second' as made_at from ${numbers(first, waiting / WAITING_PER_WORKER)}) made`.execute(
      db,
    );
  await settle(db);
}

async function removeActive(db: Db): Promise<void> {
  await sql`delete from jobs where job_id >= ${FIRST}`.execute(db);
  await sql`delete from workers where made_for_job_id >= ${FIRST}`.execute(db);
  await settle(db);
}

const LOAD = `Jobs of 1 000 entities in 20 pools, one worker in the making for four jobs, made over the last hour. pass: all that a scheduler does,
1 000 new workers at most; idle pass: nothing waits. floor: a bare count of the waiting jobs. per key: the
statement that reads the demand of each. Medians.`;

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
