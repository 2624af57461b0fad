import { beforeEach, describe, expect, test } from '@jest/globals';
import { listen } from '@paddock/db/connection/listen';
import { clientConfig } from '@paddock/db/connection/connect';
import { taskEventChannel } from '@paddock/db/connection/schema-name';
import { Secret } from '@paddock/runtime/secret';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { runDueTasks } from './scenes/run-due-tasks.scene.ts';
import { enqueue } from './enqueue.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';
import type { Kinds } from './kind.ts';
import { done, poison, snooze } from './outcome.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

describe('runDueTasks', () => {
  test('runs due tasks with all tasks that follow from them, and leaves the rest (D14)', async () => {
    const { db } = database;
    const kinds: Kinds = {
      tree: {
        slots: 2,
        handler: ({ subject: { id } }) =>
          Promise.resolve(
            done(undefined, id.length < 3 ? [task('tree', `${id}l`), task('tree', `${id}r`)] : []),
          ),
      },
    };
    await enqueueNow(
      db,
      task('tree', 'o'),
      task('tree', 'later', { dueInMs: 60_000 }),
      task('other', 'x'),
    );
    expect(await runDueTasks({ db, kinds })).toBe(7);
    expect(
      (await db.selectFrom('tasks').select('subject_id').execute())
        .map(({ subject_id }) => subject_id)
        .toSorted(),
    ).toEqual(['later', 'x']);
  });

  test('a fan-out that is run twice makes no task twice (D14)', async () => {
    const { db } = database;
    const kinds: Kinds = {
      fan: {
        slots: 2,
        handler: () => Promise.resolve(done(undefined, [task('leaf', 'one'), task('leaf', 'two')])),
      },
    };
    await enqueueNow(db, task('fan', 'x'), task('fan', 'y'));
    await runDueTasks({ db, kinds });
    expect(await db.selectFrom('tasks').select('id').execute()).toHaveLength(2);
  });

  test('reports tasks that make each other for ever', async () => {
    const { db } = database;
    const kinds: Kinds = {
      loop: { slots: 1, handler: () => Promise.resolve(done(undefined, [task('loop', 'x')])) },
    };
    await enqueueNow(db, task('loop', 'x'));
    await expect(runDueTasks({ db, kinds, maxRuns: 20 })).rejects.toThrow('21 tasks were run');
  });
});

describe('notifications', () => {
  test('come with the commit, name the kind, and do not come for a rollback or a later task (D3)', async () => {
    const { db, url, schema } = database;
    const heard: (string | undefined)[] = [];
    const stop = new AbortController();
    const listening = listen(
      {
        config: clientConfig({ url, schema, applicationName: 'test-listener' }),
        channels: [taskEventChannel(schema)],
        onWake: (_channel, payload) => void heard.push(payload),
        onError: (error) => {
          throw error;
        },
        heartbeatMs: 60_000,
      },
      stop.signal,
    );
    await waitFor('the listener', () => heard.length === 1);
    const undone = db.transaction().execute(async (trx) => {
      await enqueue(trx, [task('undone', 'x')]);
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    await enqueueNow(db, task('later', 'x', { dueInMs: 60_000 }));
    await enqueueNow(db, task('a', 'x'), task('a', 'y'));
    await waitFor('the first notification', () => heard.length === 2);
    // The queued task was locked and so hidden from every reader meanwhile.
    await enqueueNow(db, task('a', 'x'));
    await waitFor('the second notification', () => heard.length === 3);
    stop.abort();
    await listening;
    expect(heard).toEqual([undefined, 'a', 'a']);
  });
});

describe('secrets', () => {
  test('are in no table, with anything that handlers say, return and throw (D1)', async () => {
    const { db } = database;
    const known = 'k9-known-to-the-process';
    const minted = 'ghs_16C7e42F292c6912E7710c838347Ae178B4a';
    const text = `POST failed with ${known} and ${minted}`;
    const kinds: Kinds = {
      thrown: {
        slots: 1,
        handler: () => Promise.reject(new Error(text, { cause: new Error(text) })),
      },
      text: {
        slots: 1,
        handler: () => {
          // oxlint-disable-next-line typescript/only-throw-error -- what this test is about
          throw text;
        },
      },
      poisoned: { slots: 1, handler: () => Promise.resolve(poison(text)) },
      snoozed: { slots: 1, handler: () => Promise.resolve(snooze(1_000, text)) },
      output: {
        slots: 1,
        handler: () => Promise.resolve(done({ text, deep: [new Secret(known)], [known]: 1 })),
      },
    };
    await enqueueNow(
      db,
      ...Object.keys(kinds).map((kind) =>
        task(kind, 'x', { payload: { held: new Secret(known) } }),
      ),
    );
    expect(await runDueTasks({ db, kinds, secrets: [new Secret(known)] })).toBe(5);
    const { rows } = await sql<{ everything: string }>`
      select (select string_agg(t::text, ' ') from tasks t) || (select string_agg(o::text, ' ') from operations o) as everything`.execute(
      db,
    );
    expect(rows[0]?.everything).toContain('POST failed with [secret] and [secret]');
    expect(rows[0]?.everything).not.toContain(known);
    expect(rows[0]?.everything).not.toContain(minted);
  });
});
