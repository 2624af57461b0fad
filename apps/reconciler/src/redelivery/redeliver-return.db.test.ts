import { takeTick } from '@paddock/db/schedules/schedules';
import { redeliverySchedule } from '@paddock/domain/tasks/sweep-names';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { useRedeliveryScene } from '../scenes/use-scenes.scene.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database);

beforeEach(async () => {
  await database.db.deleteFrom('schedules').execute();
  const name = redeliverySchedule(scene.world.appId);
  await database.db.transaction().execute((trx) => takeTick(trx, { name, tickAt: new Date(0) }));
});

/**
 * How many seconds after it was wanted the log is looked at beside the cycles; null if it is not.
 * Forgets it.
 */
async function takeExtraLook(): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    select round(extract(epoch from extra_at - extra_since))::integer as seconds from schedules`.execute(
    scene.db,
  );
  await sql`update schedules set extra_at = null, extra_until = null`.execute(scene.db);
  return rows[0]?.seconds ?? null;
}

/** Our endpoint is away for two hours, with cycles only. */
async function failForTwoHours(): Promise<void> {
  scene.receiver.answerWith(503);
  await scene.queueJobs(5, {});
  for (let step = 0; step < 24; step++) {
    await scene.pass(5);
    await scene.cycle();
  }
  await takeExtraLook();
}

describe('an endpoint without new deliveries (E1)', () => {
  test('is tried with the newest failed delivery in each cycle in which none is due', async () => {
    await failForTwoHours();
    for (let cycle = 0; cycle < 4; cycle++) {
      await sql`update unresolved_deliveries set next_request_at = now() + interval '1 hour'`.execute(
        scene.db,
      );
      await scene.pass(5);
      const before = scene.asked.length;
      expect(await scene.cycle()).toMatchObject({ accepted: 1 });
      // The look that follows finds that it failed, and makes no more requests.
      expect(await takeExtraLook()).toBe(5);
      expect(await scene.cycle()).toMatchObject({ accepted: 0 });
      expect(await takeExtraLook()).toBeNull();
      expect(scene.asked).toHaveLength(before + 1);
    }
    const attempts = (await scene.world.github.truth()).deliveries.map(({ id }) => id);
    // Each repetition is the newest attempt, and the next one to be repeated.
    expect(attempts.slice(-5)).toContain(scene.asked.at(-1));
  });

  test('has everything sent again a few seconds after it is back', async () => {
    await failForTwoHours();
    await sql`update unresolved_deliveries set next_request_at = now() + interval '1 hour'`.execute(
      scene.db,
    );
    scene.receiver.answerWith(202);
    await scene.pass(5);
    expect(await scene.cycle()).toMatchObject({ accepted: 1 });
    expect(await takeExtraLook()).toBe(5);
    expect(await scene.cycle()).toMatchObject({ resolved: 1, accepted: 4 });
    expect(await scene.cycle()).toMatchObject({ resolved: 4, accepted: 0 });
    expect(await scene.unresolved()).toEqual([]);
  });

  test('is not tried with a body that it has refused', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(400);
    await scene.cycle();
    await scene.cycle();
    await sql`update unresolved_deliveries set next_request_at = now() + interval '1 hour', last_requested_at = now() - interval '1 hour'`.execute(
      scene.db,
    );
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
  });
});

describe('an endpoint that is back (E1)', () => {
  test('gets at once the deliveries that it missed half a minute before', async () => {
    scene.receiver.answerWith(503);
    await scene.queueJobs(3, {});
    expect(await scene.cycle()).toMatchObject({ accepted: 3 });
    await sql`update unresolved_deliveries set last_requested_at = now() - interval '30 seconds'`.execute(
      scene.db,
    );
    scene.receiver.answerWith(202);
    await scene.queueJobs(1, {});
    expect(await scene.cycle()).toMatchObject({ accepted: 3 });
  });

  test('causes one more look at the log for attempts under way, as long as that finds new ones', async () => {
    await scene.queueJobs(2);
    await scene.queueJobs(1, {});
    await scene.cycle();
    expect(await takeExtraLook()).toBe(12);
    await scene.cycle();
    expect(await takeExtraLook()).toBeNull();
    await scene.queueJobs(1);
    await scene.queueJobs(1, {});
    await scene.cycle();
    expect(await takeExtraLook()).toBe(12);
  });

  test('that refuses bodies for an own reason has not returned', async () => {
    await scene.queueJobs(2, { lossRate: 1, lossStatusCode: 400 });
    await scene.queueJobs(1, {});
    await scene.cycle();
    expect(await takeExtraLook()).toBeNull();
  });

  test('that answers 503 and 200 in turns gets 150 requested deliveries a minute, with any number of looks at the log', async () => {
    await scene.queueJobs(75);
    for (let look = 0; look < 4; look++) {
      scene.receiver.answerWith(503);
      await scene.cycle();
      await scene.holdMinute();
      scene.receiver.answerWith(202);
      await scene.queueJobs(1, {});
    }
    expect(scene.asked).toHaveLength(150);
  });

  test('keeps a delivery waiting for a minute that fails every time, so that its failures do not drive the looks', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(500);
    const succeed = async () => {
      scene.receiver.answerWith(202);
      await scene.queueJobs(1, {});
      scene.receiver.answerWith(500);
    };
    const accepted: number[] = [];
    for (let look = 0; look < 5; look++) {
      accepted.push((await scene.cycle()).accepted);
      await succeed();
    }
    expect(accepted).toEqual([1, 1, 1, 0, 0]);
    await sql`update unresolved_deliveries set last_requested_at = now() - interval '61 seconds'`.execute(
      scene.db,
    );
    expect(await scene.cycle()).toMatchObject({ accepted: 1 });
  });
});

describe('the cost of an extra look (E1, P4)', () => {
  test('reads only entries since the last look, down to a minute before now', async () => {
    await scene.lengthenLog(230);
    await scene.pass(2);
    await scene.queueJobs(1, {});
    expect(await scene.cycle()).toMatchObject({ pages: 3 });
    await scene.queueJobs(1);
    expect(await scene.cycle()).toMatchObject({ pages: 1, failed: 1, accepted: 1 });
    // The first look of the next cadence reads the whole window.
    await sql`update apps set log_read_at = now() - interval '5 minutes'`.execute(scene.db);
    expect(await scene.cycle()).toMatchObject({ pages: 3 });
  });
});
