import { beforeEach, describe, expect, test } from '@jest/globals';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { type Kysely, sql } from 'kysely';
import { createWaits } from './waits.ts';
import { appBreaker, githubBreaker, installationBreaker, poolBreaker } from './breaker-subjects.ts';
import { noteFailure } from './note-failure.ts';
import { noteSuccess, passBreakers } from './breakers.ts';
import type { Database } from '../schema/tables.ts';
import { findProbed, findProbePlace, noteAnswer, noteSilence, type Probed } from './probes.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate breakers, workers`.execute(database.db));

const github: Probed = { type: 'github', id: '' };
const fail = (
  subject = githubBreaker,
  failureClass = 'unavailable',
  db: Kysely<Database> = database.db,
) =>
  noteFailure({ db, breakerRules: BREAKER_RULES }, { subject, failureClass, message: 'no answer' });
const open = async (subject = githubBreaker, failureClass?: string) => {
  for (let n = 0; n < 3; n++) await fail(subject, failureClass);
};
const answer = () => noteAnswer(database.db, github);
const silence = (db: Kysely<Database> = database.db) =>
  noteSilence(db, github, BREAKER_RULES.longestPauseMs);
const pass = () => passBreakers(database.db, [githubBreaker]);
/**
 * How long the breaker pauses, in seconds from the transaction's instant. In a transaction
 * PostgreSQL's clock stands still, even on a busy machine.
 */
const pauseAfter = (act: (trx: Kysely<Database>) => Promise<unknown>) =>
  database.db.transaction().execute(async (trx) => {
    await act(trx);
    const { rows } = await sql<{ s: number }>`
      select round(extract(epoch from max(paused_until) - now()))::float8 as s from breakers where pauses > 0`.execute(
      trx,
    );
    return rows[0]?.s;
  });

const age = (interval: string, db: Kysely<Database> = database.db) =>
  sql`update breakers set opened_at = now() - ${interval}::interval, failed_at = now() - ${interval}::interval`.execute(
    db,
  );
const endPause = () => sql`update breakers set paused_until = now()`.execute(database.db);

describe('probes of subjects that recover by themselves (C11)', () => {
  test('a breaker that opens says for how long it holds; one that only counts holds no task', async () => {
    expect(await fail()).toBeUndefined();
    expect(await fail()).toBeUndefined();
    expect(await fail()).toEqual({ waitMs: 30_000, heldBy: 'github:' });
    const again = await fail();
    expect(again?.heldBy).toBe('github:');
    expect(again?.waitMs).toBeGreaterThan(25_000);
  });

  test('only open breakers of subjects that can be probed are probed', async () => {
    await fail();
    await open(poolBreaker('linux'));
    expect(await findProbed(database.db)).toEqual([]);
    await open();
    await open(githubBreaker, 'timeout');
    expect(await findProbed(database.db)).toEqual([github]);
  });

  test('a subject that has answered is not probed until a trial fails, because no job may wait', async () => {
    await open();
    await answer();
    expect(await findProbed(database.db)).toEqual([]);
    await fail();
    expect(await findProbed(database.db)).toEqual([github]);
    expect(await answer()).toBe(false);
    expect(await findProbed(database.db)).toEqual([]);
    expect(await pass()).toMatchObject({ waitMs: expect.any(Number), heldBy: 'github:' });
  });

  test('the first answer ends the pause for one trial; those after it change nothing', async () => {
    await open();
    expect(await answer()).toBe(true);
    expect(await pass()).toMatchObject({ waitMs: 0, trial: expect.any(String) });
    expect(await answer()).toBe(false);
    expect(await pass()).toMatchObject({ waitMs: 5_000, heldBy: 'github:' });
    await noteSuccess(database.db, [githubBreaker]);
    expect(await answer()).toBe(false);
  });

  test('a failure hours after the answer, without a trial between, begins another outage', async () => {
    await open();
    await answer();
    await age('14 hours');
    await sql`update breakers set answered_at = now() - interval '13 hours', paused_until = now() - interval '13 hours'`.execute(
      database.db,
    );
    for (let trial = 0; trial < 2; trial++) {
      expect(await fail()).toMatchObject({ waitMs: 1_000 });
      await endPause();
    }
  });

  test('a trial that began in the silence does not delay another after the first answer', async () => {
    await open();
    await endPause();
    expect(await pass()).toMatchObject({ waitMs: 0 });
    await answer();
    expect(await pass()).toMatchObject({ waitMs: 0, trial: expect.any(String) });
  });

  test('nothing is tried while probes are not answered, but after the longest pause', async () => {
    await open();
    await endPause();
    expect(await pauseAfter(silence)).toBe(5);
    expect(await pass()).toMatchObject({ waitMs: expect.any(Number), heldBy: 'github:' });
    await age('15 minutes');
    await endPause();
    await silence();
    expect(await pass()).toMatchObject({ waitMs: 0, trial: expect.any(String) });
  });

  test('a silence does not shorten a pause, and the next answer ends it again', async () => {
    const openInSilence = async (trx: Kysely<Database>) => {
      for (let n = 0; n < 3; n++) await fail(githubBreaker, 'unavailable', trx);
      await silence(trx);
    };
    expect(await pauseAfter(openInSilence)).toBe(30);
    await answer();
    await fail();
    expect(await pauseAfter(silence)).toBe(5);
    expect(await answer()).toBe(true);
    expect(await pass()).toMatchObject({ waitMs: 0 });
  });

  test.each([
    ['1 second', 1],
    ['80 seconds', 10],
    ['10 hours', 900],
  ])(
    'a trial that fails although probes are answered, %s after the breaker opened, waits %s s',
    async (since, seconds) => {
      await open();
      await answer();
      expect(
        await pauseAfter(async (trx) => {
          await age(since, trx);
          await fail(githubBreaker, 'unavailable', trx);
        }),
      ).toBe(seconds);
    },
  );

  test('GitHub is probed as an installation that waits for a worker', async () => {
    expect(await findProbePlace(database.db, [1])).toBeUndefined();
    await putWorker(database.db, { pod_name: 'a', app_id: 1, installation_id: 11, entity_id: 9 });
    await putWorker(database.db, { pod_name: 'b', app_id: 2, installation_id: 12, entity_id: 8 });
    expect(await findProbePlace(database.db, [1])).toEqual({
      appId: 1,
      installationId: 11,
      entityId: 9,
    });
    expect(await findProbePlace(database.db, [3])).toBeUndefined();
  });

  test.each([installationBreaker(9), appBreaker(1)])(
    'and as none that GitHub has asked to wait, itself or its App: $type',
    async (subject) => {
      await putWorker(database.db, { pod_name: 'a', app_id: 1, installation_id: 11, entity_id: 9 });
      await putWorker(database.db, {
        pod_name: 'b',
        app_id: 2,
        installation_id: 12,
        entity_id: 8,
        created_at: new Date(0),
      });
      const waits = createWaits(database.db, () => undefined);
      await waits.note(subject.type === 'app' ? { appId: 1 } : { entityId: 9 }, {
        ms: 60_000,
        message: 'slow down',
      });
      expect(await findProbePlace(database.db, [1, 2])).toEqual({
        appId: 2,
        installationId: 12,
        entityId: 8,
      });
    },
  );
});
