import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { startTunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import {
  type ExecutorProcess,
  executorProcesses,
  prepareEffects,
  sessionsToEnd,
} from './scenes/executor-processes.scene.ts';
import type { Said } from './scenes/executor-program.scene.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';

let database: TestDatabase;
let tunnel: Awaited<ReturnType<typeof startTunnel>>;
let url: string;
const processes = executorProcesses(() => ({ url, schema: database.schema }));
beforeAll(async () => {
  database = await createTestDatabase();
  tunnel = await startTunnel(database.url);
  await prepareEffects(database.db);
});
afterAll(async () => {
  await tunnel.cut();
  await database.drop();
});
beforeEach(async () => {
  url = tunnel.url;
  await sql`truncate tasks, operations, task_counts, effects`.execute(database.db);
});
afterEach(async () => {
  await processes.killAll();
  await sessionsToEnd(database.db);
});

/** As by default: 12 s without a renewal and a session, or 30 s without a renewal. */
const rules = { claimMs: 30_000, pollMs: 5_000, takeOverPauseMs: 10_000 };
const subjects = Array.from({ length: 16 }, (_, n) => `x-${n}`);
const slots = { count: 1, hold: 16 };

const tasks = () =>
  database.db
    .selectFrom('tasks')
    .select(['id', 'crashes', 'attempt', 'started_at', 'locked_at'])
    .execute();

/** In seconds, by PostgreSQL's clock. */
async function longestWithoutRenewal(): Promise<number> {
  const { rows } = await sql<{ s: number }>`
    select coalesce(extract(epoch from max(clock_timestamp() - locked_at)), 0)::float8 as s from tasks`.execute(
    database.db,
  );
  return rows[0]?.s ?? 0;
}

async function startBoth(): Promise<[ExecutorProcess, ExecutorProcess]> {
  const holding = await processes.start({ name: 'holding', rules, slots });
  await enqueueNow(database.db, ...subjects.map((subject) => task('hold', subject)));
  await waitFor('all runs', () => holding.heard('began').length === subjects.length);
  return [holding, await processes.start({ name: 'other', rules, slots })];
}

/** Lets all runs end. Returns the faults before that: none, if each still had its task. */
async function whatWasLost([holding, other]: [ExecutorProcess, ExecutorProcess]): Promise<
  readonly Said[]
> {
  await waitFor('a renewal', async () => (await longestWithoutRenewal()) < 6);
  for (const subject of subjects) holding.open(subject);
  await waitFor('the queue to be empty', async () => (await tasks()).length === 0);
  const bad = ['aborted', 'lost', 'released', 'taken over'] as const;
  return [holding, other]
    .flatMap(({ heard }) => bad.flatMap((what) => heard(what)))
    .concat(other.heard('began'));
}

test('16 tasks of an executor that is killed run elsewhere before their claim is over, one crash each and no attempt (D5)', async () => {
  const [holding, other] = await startBoth();
  holding.kill('SIGKILL');
  await holding.exited;
  const renewedAt = new Map(
    (await tasks()).map(({ id, locked_at }) => [id, locked_at?.getTime() ?? 0]),
  );
  await waitFor('all runs', () => other.heard('began').length === subjects.length);
  for (const { id, crashes, attempt, started_at } of await tasks()) {
    expect({ crashes, attempt }).toEqual({ crashes: 1, attempt: 1 });
    const waited = (started_at?.getTime() ?? 0) - (renewedAt.get(id) ?? 0);
    expect(waited).toBeGreaterThanOrEqual((rules.claimMs * 2) / 5);
    expect(waited).toBeLessThan(rules.claimMs);
  }
});

test('a process that stops for longer than its session may be missed loses no task and aborts none (D5)', async () => {
  const both = await startBoth();
  both[0].kill('SIGSTOP');
  await waitFor('no renewal', async () => (await longestWithoutRenewal()) > 13);
  both[0].kill('SIGCONT');
  expect(await whatWasLost(both)).toEqual([]);
});

test('a PostgreSQL that stalls for more than ten seconds loses nothing and aborts nothing (D5)', async () => {
  const both = await startBoth();
  tunnel.setHeld(true);
  await waitFor('no renewal', async () => (await longestWithoutRenewal()) > 14);
  tunnel.setHeld(false);
  expect(await whatWasLost(both)).toEqual([]);
});

test('a holder whose session is ended begins another one and loses nothing (D5)', async () => {
  const both = await startBoth();
  const sessions = async () => {
    const { rows } = await sql<{ pid: number }>`
      select distinct l.pid from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and a.application_name = 'holding-1-own'`.execute(database.db);
    return rows.map(({ pid }) => pid);
  };
  const [first] = await sessions();
  await sql`select pg_terminate_backend(${first}::integer)`.execute(database.db);
  await waitFor('another session', async () => (await sessions()).some((pid) => pid !== first));
  expect(await whatWasLost(both)).toEqual([]);
});

test('a holder that is cut off from PostgreSQL interrupts its runs before another one begins them (D5)', async () => {
  const ownWay = await startTunnel(database.url);
  url = ownWay.url;
  const holding = await processes.start({ name: 'holding', rules, slots });
  await enqueueNow(database.db, ...subjects.map((subject) => task('hold', subject)));
  await waitFor('all runs', () => holding.heard('began').length === subjects.length);
  url = tunnel.url;
  const other = await processes.start({ name: 'other', rules, slots });
  await ownWay.cut();
  const interrupted = await waitFor(
    'the first run elsewhere',
    () => other.heard('began').length > 0 && holding.heard('aborted').length,
  );
  expect(interrupted).toBe(subjects.length);
  await waitFor('all runs elsewhere', () => other.heard('began').length === subjects.length);
});
