import { beforeEach, describe, expect, test } from '@jest/globals';
import { findDueRedeliveries } from '@paddock/db/deliveries/redelivery';
import { saveAppIds } from '@paddock/db/instance';
import { takeTick } from '@paddock/db/schedules/schedules';
import { redeliverySchedule } from '@paddock/domain/tasks/sweep-names';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { useRedeliveryScene } from '../scenes/redelivery.scene.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database);
const LATER = sql`next_request_at = now() + interval '1 hour'`;

describe('redelivery on the straight path (E1)', () => {
  test('asks once for a lost delivery that our own events lack, and forgets it when the log shows that it got through', async () => {
    await scene.queueJobs(2);
    const [here] = await scene.attempts();
    await scene.storeEvent(here?.guid ?? '');
    expect(await scene.cycle()).toMatchObject({ failed: 1, accepted: 1 });
    expect(scene.receiver.received).toHaveLength(1);
    expect(await scene.cycle()).toMatchObject({ failed: 0, resolved: 1, accepted: 0 });
    expect(await scene.unresolved()).toEqual([]);
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
    expect(scene.asked).toHaveLength(1);
    expect(scene.asked).not.toContain(here?.id);
  });

  test.each(['before it is known to be lost', 'after it was asked for'])(
    'takes a replay under the GUID of a lost delivery for no arrival of it, %s',
    async (when) => {
      await scene.queueJobs(1);
      const [lost] = await scene.attempts();
      if (when.startsWith('after'))
        await scene.cycle({ config: { redeliveryRequestsPerMinute: 0 } });
      await scene.storeEvent(lost?.guid ?? '', 'repeated_body');
      expect(await scene.cycle()).toMatchObject({ failed: 1, resolved: 0, accepted: 1 });
      // GitHub's own repetition may be of a known body too: the log says that it got through.
      const counts = { failed: 0, missing: 0, resolved: 1, accepted: 0 };
      expect(await scene.cycle()).toMatchObject(counts);
    },
  );

  test('asks for the most recent attempt of a delivery', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(503);
    await scene.cycle();
    await scene.passAnHour();
    await scene.cycle();
    const ids = (await scene.attempts()).map(({ id }) => id);
    expect(ids).toHaveLength(3);
    // No JavaScript number holds them.
    expect(ids.some((id) => Number.isSafeInteger(Number(id)))).toBe(false);
    expect(scene.asked).toEqual(ids.toSorted().slice(0, 2));
  });

  test('asks for queued jobs first, then completed ones, then those in progress; installations take turns', async () => {
    await scene.queueJobs(1, {});
    await scene.world.github.setDeliveryFaults({ lossRate: 1 });
    const hosted = { repo: 'acme/api', labels: ['ubuntu-latest'], hosted: true, durationMs: 1 };
    await scene.world.github.queueJob(hosted);
    await scene.world.github.uninstall(scene.world.user.installationId);
    await scene.world.github.settled();
    await scene.cycle({ config: { redeliveryRequestsPerMinute: 0 } });
    const rules = { perMinute: 150, earlyMs: 0, cycleMs: 300_000 };
    const { due } = await findDueRedeliveries(scene.db, scene.world.appId, rules);
    const attempts = await scene.attempts();
    const actionOf = new Map(attempts.map((one) => [one.guid, `${one.event}.${one.action}`]));
    expect(due.map(({ guid }) => actionOf.get(guid))).toEqual([
      'workflow_job.queued',
      'installation.deleted',
      'workflow_job.completed',
      'workflow_job.in_progress',
    ]);
    expect(await scene.cycle()).toMatchObject({ accepted: 4 });
  });
});

test('an App has a log, a mark and requests of its own: those of another one are left alone (E1, B2)', async () => {
  await scene.queueJobs(1);
  await sql`insert into unresolved_deliveries (app_id, guid, delivery_id, event, first_failed_at, last_failed_at, last_status_code)
    values (4711, 'others', 1, 'workflow_job', now() - interval '80 hours', now(), 500)`.execute(
    scene.db,
  );
  expect(await scene.cycle()).toMatchObject({ accepted: 1, givenUp: 0, resolved: 0 });
  await scene.asIfAsked(61);
  expect(await scene.cycle()).toMatchObject({ accepted: 0, resolved: 1 });
  const marks = await scene.db.selectFrom('apps').select('app_id').execute();
  expect(marks).toEqual([{ app_id: scene.world.appId }]);
  // It was taken out of the configuration.
  await saveAppIds(scene.db, [scene.world.appId]);
  expect(await scene.cycle()).toMatchObject({ givenUp: 1 });
});

describe('spacing of requests (E1)', () => {
  test('a delivery that fails again is requested after 5, 5, 5, 10, 20, 40, then 60 minutes, counted from the last request', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(500);
    const waits: number[] = [];
    for (let request = 0; request < 8; request++) {
      await scene.cycle();
      const [asked] = await scene.unresolved();
      const waitMs = Number(asked?.next_request_at) - Number(asked?.last_requested_at);
      waits.push(Math.round(waitMs / 60_000));
      await scene.cycle();
      expect(scene.asked).toHaveLength(request + 1);
      await scene.passAnHour();
    }
    expect(waits).toEqual([5, 5, 5, 10, 20, 40, 60, 60]);
  });

  test.each([
    ['within a tenth of the time to the next cycle is asked for now', 20, 1],
    ['later is left to the next cycle', 60, 0],
  ])('one that is due %s: cycles do not come at even times', async (_when, seconds, accepted) => {
    await scene.queueJobs(1);
    await scene.cycle({ config: { redeliveryRequestsPerMinute: 0 } });
    await scene.setUnresolved(sql`next_request_at = now() + ${seconds} * interval '1 second'`);
    expect(await scene.cycle()).toMatchObject({ accepted });
  });

  test('a body that our endpoint refuses with 400 keeps to its spacing, however well others get through, and is not what a silent endpoint is tried with', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(400);
    await scene.cycle();
    await scene.cycle();
    const old = sql`last_requested_at = now() - interval '1 hour', last_failed_at = now() - interval '1 minute'`;
    await scene.setUnresolved(sql.join([LATER, old]));
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
    scene.receiver.answerWith(200);
    await scene.queueJobs(1, {});
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
  });

  test('given up by age only, with an event row that says so', async () => {
    await scene.queueJobs(2);
    scene.receiver.answerWith(500);
    await scene.cycle();
    await scene.setUnresolved(sql`requests = 1000`);
    expect(await scene.cycle()).toMatchObject({ givenUp: 0 });
    const [old] = await scene.unresolved();
    await scene.makeOld(old?.guid);
    expect(await scene.cycle()).toMatchObject({ givenUp: 1 });
    // The log still shows its attempts.
    expect(await scene.cycle()).toMatchObject({ failed: 1, givenUp: 0 });
    const events = await scene.db.selectFrom('installation_events').selectAll().execute();
    const given = { outcome: 'redelivery_given_up', payload: { requests: 1000 } };
    expect(events).toMatchObject([
      {
        ...given,
        source: 'reconciler',
        event: 'workflow_job.queued',
        app_id: scene.world.appId,
        delivery_guid: old?.guid,
      },
    ]);
  });
});

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

test('an endpoint without new deliveries is tried with the newest failed delivery in each cycle in which none is due, and has everything sent again a few seconds after it is back (E1)', async () => {
  await failForTwoHours();
  for (let cycle = 0; cycle < 2; cycle++) {
    await scene.setUnresolved(LATER);
    await scene.pass(5);
    const before = scene.asked.length;
    expect(await scene.cycle()).toMatchObject({ accepted: 1 });
    // The look that follows finds that it failed, and makes no more requests.
    expect(await takeExtraLook()).toBe(5);
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
    expect(await takeExtraLook()).toBeNull();
    expect(scene.asked).toHaveLength(before + 1);
  }
  const attempts = (await scene.attempts()).map(({ id }) => id);
  // Each repetition is the newest attempt, and the next one to be repeated.
  expect(attempts.slice(-5)).toContain(scene.asked.at(-1));
  await scene.setUnresolved(LATER);
  scene.receiver.answerWith(202);
  await scene.pass(5);
  expect(await scene.cycle()).toMatchObject({ accepted: 1 });
  expect(await takeExtraLook()).toBe(5);
  expect(await scene.cycle()).toMatchObject({ resolved: 1, accepted: 4 });
  expect(await scene.cycle()).toMatchObject({ resolved: 4, accepted: 0 });
  expect(await scene.unresolved()).toEqual([]);
});

describe('an endpoint that is back (E1)', () => {
  test('gets at once the deliveries that it missed half a minute before', async () => {
    scene.receiver.answerWith(503);
    await scene.queueJobs(3, {});
    expect(await scene.cycle()).toMatchObject({ accepted: 3 });
    await scene.asIfAsked(30);
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

  test('keeps a delivery waiting for a minute that fails every time, so that its failures do not drive the looks', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(500);
    const accepted: number[] = [];
    for (let look = 0; look < 5; look++) {
      accepted.push((await scene.cycle())['accepted'] ?? 0);
      scene.receiver.answerWith(202);
      await scene.queueJobs(1, {});
      scene.receiver.answerWith(500);
    }
    expect(accepted).toEqual([1, 1, 1, 0, 0]);
    await scene.asIfAsked(61);
    expect(await scene.cycle()).toMatchObject({ accepted: 1 });
  });
});

test('an extra look reads only entries since the last look, down to a minute before now (E1, P4)', async () => {
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
