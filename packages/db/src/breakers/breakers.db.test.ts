import { beforeEach, describe, expect, test } from '@jest/globals';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { giveBackTrial, noteSuccess, passBreakers } from './breakers.ts';
import { githubBreaker, installationBreaker, poolBreaker } from './breaker-subjects.ts';
import { holdBack, noteFailure } from './note-failure.ts';
import { findWorkerToProvision, markRegistrationStarted } from '../workers/workers.ts';

const database = useTestDatabase();
beforeEach(() => sql`truncate breakers`.execute(database.db));

const linux = poolBreaker('linux');
const fail = (failureClass = 'forbidden', subject = linux) =>
  noteFailure(
    { db: database.db, breakerRules: BREAKER_RULES },
    { subject, failureClass, message: `${failureClass}!` },
  );
const failTimes = async (times: number, failureClass?: string) => {
  for (let n = 0; n < times; n++) await fail(failureClass);
};
const pass = (...subjects: Parameters<typeof passBreakers>[1]) =>
  passBreakers(database.db, subjects);
/** How long each breaker was paused for, in seconds. */
const pauses = async () =>
  (
    await sql<{
      seconds: number;
    }>`select extract(epoch from paused_until - failed_at)::float8 as seconds from breakers where pauses > 0`.execute(
      database.db,
    )
  ).rows.map(({ seconds }) => seconds);
const endPauses = () =>
  sql`update breakers set paused_until = now() where paused_until > now()`.execute(database.db);

describe('breakers (C11)', () => {
  test('the third failure of a class opens one, for that subject only', async () => {
    expect(await pass(linux)).toEqual({ waitMs: 0, message: '', isWatched: false });
    await failTimes(2);
    await fail('not_found');
    expect(await pass(linux, githubBreaker)).toEqual({ waitMs: 0, message: '', isWatched: true });
    await fail();
    expect(await pass(linux, githubBreaker)).toEqual({
      waitMs: expect.any(Number),
      heldBy: 'pool:linux',
      message: 'forbidden!',
      isWatched: true,
    });
    expect(await pauses()).toEqual([30]);
    expect(await pass(githubBreaker, poolBreaker('windows'), installationBreaker(7))).toMatchObject(
      { waitMs: 0 },
    );
  });

  test('a success between failures starts the count again', async () => {
    await failTimes(2);
    await noteSuccess(database.db, [linux]);
    await failTimes(2);
    expect(await pass(linux)).toMatchObject({ waitMs: 0 });
  });

  test('failures of work begun before a pause do not extend it', async () => {
    await failTimes(16);
    const rows = await database.db.selectFrom('breakers').select(['pauses', 'failures']).execute();
    expect(rows).toEqual([{ pauses: 1, failures: 0 }]);
  });

  test('after a pause one of all who ask may try; when its trial fails the next pause is twice as long, 15 minutes at most', async () => {
    await failTimes(3);
    for (const seconds of [60, 120, 240, 480, 900, 900]) {
      await endPauses();
      const asked = await Promise.all(Array.from({ length: 8 }, () => pass(linux)));
      expect(asked.filter(({ waitMs }) => waitMs === 0)).toHaveLength(1);
      expect(await pass(linux)).toMatchObject({ waitMs: 5_000, message: 'forbidden!' });
      await fail();
      expect(await pauses()).toEqual([seconds]);
    }
  });

  test('trials that fail for months end with the longest pause', async () => {
    await failTimes(3);
    await sql`update breakers set pauses = 100000, paused_until = now()`.execute(database.db);
    await fail();
    expect(await pauses()).toEqual([900]);
  });

  test('a trial that dies leaves the next one to another task', async () => {
    await failTimes(3);
    await endPauses();
    expect(await pass(linux)).toMatchObject({ waitMs: 0 });
    await sql`update breakers set trial_until = now()`.execute(database.db);
    expect(await pass(linux)).toMatchObject({ waitMs: 0 });
  });

  test('a trial without an outcome is given back: its failed breaker waits its pause, and the next task may try the rest', async () => {
    const others = [linux, githubBreaker];
    await failTimes(3, 'pod_refused');
    for (let n = 0; n < 3; n++) await fail('unavailable', githubBreaker);
    await endPauses();
    const { trial = '' } = await pass(...others);
    await fail('unavailable', githubBreaker);
    await endPauses();
    expect(await pass(...others)).toMatchObject({ waitMs: 5_000 });
    await giveBackTrial(database.db, others, trial);
    const next = await pass(...others);
    expect(next).toMatchObject({ waitMs: 0, trial: expect.any(String) });
    // The first trial fails only now. It must leave the next one's trial alone.
    await giveBackTrial(database.db, others, trial);
    expect(await pass(...others)).toMatchObject({ waitMs: 5_000 });
    await giveBackTrial(database.db, [poolBreaker('windows')], next.trial ?? '');
    expect(await pass(...others)).toMatchObject({ waitMs: 5_000 });
  });

  test('no task tries one breaker while another holds the same work back', async () => {
    await failTimes(3);
    await endPauses();
    for (let n = 0; n < 3; n++) await fail('unavailable', githubBreaker);
    expect(await pass(linux, githubBreaker)).toMatchObject({ message: 'unavailable!' });
    expect(await pass(linux)).toMatchObject({ waitMs: 0 });
  });

  test('a success closes it, of one class or of all', async () => {
    await failTimes(3, 'refused');
    await failTimes(3, 'runner_failed');
    await noteSuccess(database.db, [linux], { except: 'runner_failed' });
    expect(await pass(linux)).toMatchObject({ message: 'runner_failed!' });
    await noteSuccess(database.db, [linux], { only: 'refused' });
    expect(await pass(linux)).toMatchObject({ message: 'runner_failed!' });
    await noteSuccess(database.db, [linux, githubBreaker]);
    expect(await pass(linux)).toEqual({ waitMs: 0, message: '', isWatched: false });
  });

  test('a cluster that asks for a wait gets it, and then one trial', async () => {
    const limited = {
      subject: installationBreaker(7),
      failureClass: 'not_found',
      message: 'slow down',
    };
    await holdBack(database.db, limited, 77_000);
    await holdBack(database.db, limited, 1_000);
    const [row] = await database.db
      .selectFrom('breakers')
      .select(sql<boolean>`paused_until > now() + interval '10 s'`.as('long'))
      .execute();
    expect(row).toEqual({ long: true });
    expect(await pass(installationBreaker(7))).toMatchObject({ message: 'slow down' });
    expect(await pass(installationBreaker(8))).toMatchObject({ waitMs: 0 });
    await endPauses();
    const asked = await Promise.all(Array.from({ length: 4 }, () => pass(installationBreaker(7))));
    expect(asked.filter(({ waitMs }) => waitMs === 0)).toHaveLength(1);
  });

  test('failures, passages and successes side by side never wait for each other in a circle', async () => {
    const subjects = [linux, installationBreaker(7), githubBreaker];
    const rounds = Array.from({ length: 60 }, async (_, n) => {
      const mixed = n % 2 === 0 ? subjects : subjects.toReversed();
      if (n % 3 === 0) return noteSuccess(database.db, mixed);
      if (n % 3 === 1) return pass(...mixed);
      for (const subject of mixed) await fail('unavailable', subject);
    });
    await expect(Promise.all(rounds)).resolves.toHaveLength(60);
  });

  test('a registration that has not asked is not begun once one of its breakers is open; the trial is', async () => {
    const { pod_name: podName } = await putWorker(database.db, { k8s_pool: 'linux' });
    await failTimes(2);
    expect(await findWorkerToProvision(database.db, podName, [1001])).toMatchObject({
      isWatched: true,
    });
    await fail();
    expect(await markRegistrationStarted(database.db, podName, { hasPassed: false })).toBe(false);
    expect(await markRegistrationStarted(database.db, podName, { hasPassed: true })).toBe(true);
  });

  test('failures of another pool, entity or cluster keep no registration from being begun', async () => {
    const { pod_name: podName } = await putWorker(database.db, { k8s_pool: 'windows' });
    await failTimes(3);
    expect(await findWorkerToProvision(database.db, podName, [1001])).toMatchObject({
      isWatched: false,
    });
    expect(await markRegistrationStarted(database.db, podName, { hasPassed: false })).toBe(true);
  });
});

test('the rules say after how many failures a breaker opens, and for how long (H6)', async () => {
  const noting = {
    db: database.db,
    breakerRules: {
      ...BREAKER_RULES,
      failures: 2,
      firstPauseMs: 60_000,
      longestPauseMs: 3_600_000,
    },
  };
  const failure = { subject: poolBreaker('ruled'), failureClass: 'forbidden', message: 'no' };
  for (let n = 0; n < 2; n += 1) await noteFailure(noting, failure);
  const { waitMs } = await pass(failure.subject);
  expect(waitMs).toBeGreaterThan(30_000);
  expect(waitMs).toBeLessThanOrEqual(60_000);
});
