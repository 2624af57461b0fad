import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { connectDatabase, type DatabaseConnection } from '@paddock/db/connection/connect';
import { isUnavailable } from '@paddock/db/connection/errors';
import { migrate } from '@paddock/db/migrate';
import { type Postgres, startPostgres } from '@paddock/embedded-postgres/start-postgres';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import {
  executorProcesses,
  prepareEffects,
  readEffects,
} from './scenes/executor-processes.scene.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';

const SCHEMA = 'paddock';

let postgres: Postgres;
let connection: DatabaseConnection;
const processes = executorProcesses(() => ({ url: postgres.url(), schema: SCHEMA }));
beforeAll(async () => {
  postgres = await startPostgres();
  await migrate({ url: postgres.url(), schema: SCHEMA });
  const place = { url: postgres.url(), schema: SCHEMA };
  connection = connectDatabase({ ...place, poolSize: 4, applicationName: 'test' });
  await prepareEffects(connection.db);
});
afterAll(async () => {
  await connection.close();
  await postgres.stop();
});
beforeEach(async () => {
  await postgres.resume();
  await sql`truncate tasks, operations, task_counts, effects`.execute(connection.db);
});
let load: ReturnType<typeof startLoad> | undefined;
afterEach(async () => {
  await load?.stop();
  load = undefined;
  await processes.killAll();
});

const tasks = () => connection.db.selectFrom('tasks').selectAll().execute();
const operations = () => connection.db.selectFrom('operations').selectAll().execute();
const withoutEffect = { payload: { effect: false } };

/**
 * Enqueues tasks one after the other until it is stopped; one that PostgreSQL does not take is
 * tried again for as long as it is away.
 */
function startLoad() {
  const accepted: string[] = [];
  const stop = new AbortController();
  const tryOne = async (subject: string): Promise<boolean> => {
    try {
      const [enqueued] = await enqueueNow(connection.db, task('count', subject));
      accepted.push(enqueued?.id ?? '');
      return true;
    } catch (error) {
      if (isUnavailable(error)) return false;
      throw error;
    }
  };
  const running = (async () => {
    for (let n = 0; !stop.signal.aborted; n++) {
      await waitFor(
        `task ${n} to be accepted`,
        async () => stop.signal.aborted || (await tryOne(`w-${n}`)),
      );
    }
  })();
  running.catch(() => undefined); // awaited when it is stopped
  return {
    accepted,
    stop: () => {
      stop.abort();
      return running;
    },
  };
}

test.each(['fast', 'immediate'] as const)(
  'PostgreSQL stops (%s) for longer than the claim under load: no task is lost or ended by it, and runs keep their tasks (D5)',
  async (mode) => {
    const { db } = connection;
    // The pause is longer than the settlers' longest: who was cut off with a result in hand writes
    // it before anybody may take the task. Cut off, a holder interrupts its runs after a third of
    // the claim: the one that ends meanwhile has to be told before.
    const rules = { claimMs: 9_000 };
    const started = await Promise.all(
      ['red', 'green'].map((name) => processes.start({ name, executors: 2, rules })),
    );
    const heard = (...args: Parameters<(typeof started)[0]['heard']>) =>
      started.flatMap((process) => process.heard(...args));
    const open = (subject: string) => started.forEach((process) => process.open(subject));
    for (const subject of ['ends meanwhile', 'goes on'])
      await enqueueNow(db, task('hold', subject, withoutEffect));
    await waitFor('both runs', () => heard('began').length === 2);
    const { accepted, stop } = (load = startLoad());
    await waitFor('the load', async () => (await readEffects(db)).length >= 100);

    await postgres.halt({ mode });
    const haltedAt = performance.now();
    const acceptedBefore = accepted.length;
    open('ends meanwhile');
    await waitFor('a failed settle', () =>
      heard('failed').some(({ detail }) => detail === 'settle'),
    );
    await waitFor(
      'the other run to be interrupted',
      () => heard('aborted', 'goes on').length === 1,
    );
    await waitFor(
      'the claims to be over',
      () => performance.now() - haltedAt > rules.claimMs * 1.2,
    );
    expect(heard('began').map(({ subject }) => subject)).toHaveLength(2);
    await postgres.resume();

    await waitFor('the load to go on', () => accepted.length >= acceptedBefore + 100);
    await stop();
    await waitFor('the other run to begin again', () => heard('began', 'goes on').length === 2);
    open('goes on');
    await waitFor('the queue to be empty', async () => (await tasks()).length === 0);

    const ended = new Map((await operations()).map((row) => [row.id, row]));
    expect(accepted.filter((id) => ended.get(id)?.status !== 'OK')).toEqual([]);
    expect([...ended.values()].filter(({ status }) => status !== 'OK')).toEqual([]);
    const effects = new Set((await readEffects(db)).map(({ task_id }) => task_id));
    expect(accepted.filter((id) => !effects.has(id))).toEqual([]);

    const held = [...ended.values()].filter(({ kind }) => kind === 'hold');
    const [first] = heard('began', 'ends meanwhile');
    expect(heard('began', 'ends meanwhile')).toHaveLength(1);
    expect(held.find(({ subject_id }) => subject_id === 'ends meanwhile')?.output).toEqual({
      by: first?.holder,
    });
    for (const row of held) expect(row).toMatchObject({ attempt: 1, crashes: 0, failures: [] });
    await waitFor('the other run to be told as released', () => heard('released').length > 0);
    expect(heard('released')).toMatchObject([{ subject: 'goes on', detail: 'claim-lost' }]);
    expect(heard('ended by crashes')).toEqual([]);
  },
);

test('a run goes on through an outage of less than two thirds of its claim, and settles (D5)', async () => {
  const { db } = connection;
  const rules = { claimMs: 120_000 };
  const [holding, idle] = await Promise.all(
    ['holding', 'idle'].map((name) => processes.start({ name, rules })),
  );
  await enqueueNow(db, task('hold', 'x'));
  await waitFor('the run', () =>
    [holding, idle].some((process) => process?.heard('began').length === 1),
  );
  const [before] = await tasks();
  await postgres.halt({ mode: 'immediate' });
  for (const process of [holding, idle])
    await waitFor('a failed claim', () =>
      process?.heard('failed').some(({ detail }) => detail === 'claim'),
    );
  await postgres.resume();
  // A renewal comes first when PostgreSQL is back, long before the next beat is due.
  const after = await waitFor('the claim to be renewed', async () => {
    const [row] = await tasks();
    return (row?.locked_until ?? 0) > (before?.locked_until ?? 0) && row;
  });
  expect(after).toMatchObject({ locked_by: before?.locked_by, fence: before?.fence });
  for (const process of [holding, idle]) process?.open('x');
  await waitFor('the queue to be empty', async () => (await tasks()).length === 0);
  const by = before?.locked_by;
  expect(await operations()).toMatchObject([
    { status: 'OK', attempt: 1, crashes: 0, output: { by } },
  ]);
  expect(await readEffects(db)).toHaveLength(1);
  for (const process of [holding, idle])
    for (const fault of ['aborted', 'taken over', 'lost'] as const)
      expect(process?.heard(fault)).toEqual([]);
});
