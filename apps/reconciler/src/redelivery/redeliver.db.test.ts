import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { useRedeliveryScene } from '../scenes/use-scenes.scene.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database);

const attempts = async () => (await scene.world.github.truth()).deliveries;

describe('redelivery on the straight path (E1)', () => {
  test('makes no request when every delivery arrived', async () => {
    await scene.queueJobs(3, {});
    expect(await scene.cycle()).toMatchObject({
      attempts: 3,
      failed: 0,
      accepted: 0,
      listed: true,
    });
    expect(scene.asked).toEqual([]);
  });

  test('asks once for a lost delivery, and forgets it when the log shows that it got through', async () => {
    await scene.queueJobs(1);
    expect(await scene.cycle()).toMatchObject({ failed: 1, accepted: 1 });
    expect(scene.receiver.received).toHaveLength(1);
    expect(await scene.cycle()).toMatchObject({ failed: 0, resolved: 1, accepted: 0 });
    expect(await scene.unresolved()).toEqual([]);
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
    expect(scene.asked).toHaveLength(1);
  });

  test('finds a lost delivery of any failing status: a redirect, no code, a server error', async () => {
    for (const lossStatusCode of [302, 0, 404, 503])
      await scene.queueJobs(1, { lossRate: 1, lossStatusCode });
    expect(await scene.cycle()).toMatchObject({ failed: 4, accepted: 4 });
  });

  test('leaves alone a delivery with a successful attempt', async () => {
    await scene.queueJobs(1, { lossRate: 1 });
    const [first] = await attempts();
    await scene.cycle();
    await scene.db.deleteFrom('unresolved_deliveries').execute();
    scene.asked.length = 0;
    await scene.cycle();
    expect(first?.statusCode).toBe(502);
    expect(scene.asked).toEqual([]);
  });

  test('leaves alone a failed delivery that our own events have', async () => {
    await scene.queueJobs(2);
    const [first] = await attempts();
    await scene.storeEvent(first?.guid ?? '');
    expect(await scene.cycle()).toMatchObject({ failed: 1, accepted: 1 });
    expect(scene.asked).not.toContain(first?.id);
  });

  test('forgets a delivery that has arrived since, even if the log calls it failed', async () => {
    await scene.queueJobs(1);
    await scene.cycle({ perMinute: 0 });
    const [row] = await scene.unresolved();
    await scene.storeEvent(row?.guid ?? '');
    expect(await scene.cycle()).toMatchObject({ resolved: 1, accepted: 0 });
  });

  test.each(['before it is known to be lost', 'after it was asked for'])(
    'takes a replay under the GUID of a lost delivery for no arrival of it, %s',
    async (when) => {
      await scene.queueJobs(1);
      const [lost] = await attempts();
      if (when.startsWith('after')) await scene.cycle({ perMinute: 0 });
      await scene.storeEvent(lost?.guid ?? '', 'repeated_body');
      expect(await scene.cycle()).toMatchObject({ failed: 1, resolved: 0, accepted: 1 });
      // GitHub's own repetition may be of a known body too: the log says that it got through.
      expect(await scene.cycle()).toMatchObject({
        failed: 0,
        missing: 0,
        resolved: 1,
        accepted: 0,
      });
    },
  );

  test('leaves events alone that change nothing for us', async () => {
    await scene.world.github.setApp(scene.world.appId, { events: ['workflow_job', 'push'] });
    await scene.world.github.setDeliveryFaults({ lossRate: 1 });
    await scene.world.github.sendExample(scene.world.appId, 'push', 0);
    await scene.world.github.sendExample(scene.world.appId, 'installation', 0);
    await scene.world.github.settled();
    expect(await scene.cycle()).toMatchObject({ attempts: 2, failed: 1, accepted: 1 });
  });

  test('asks for the most recent attempt of a delivery', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(503);
    await scene.cycle();
    await scene.passAnHour();
    await scene.cycle();
    const ids = (await attempts()).map(({ id }) => id);
    expect(ids).toHaveLength(3);
    expect(scene.asked).toEqual(ids.toSorted().slice(0, 2));
  });

  test('asks by ids that no JavaScript number holds, digit by digit', async () => {
    await scene.queueJobs(2);
    const ids = (await attempts()).map(({ id }) => id);
    expect(ids.map((id) => Number.isSafeInteger(Number(id)))).toEqual([false, false]);
    scene.receiver.answerWith(503);
    expect(await scene.cycle()).toMatchObject({ failed: 2, accepted: 2 });
    expect(scene.asked.toSorted()).toEqual(ids.toSorted());
    await scene.passAnHour();
    expect(await scene.cycle({ giveUpMs: 0 })).toMatchObject({ givenUp: 2 });
    const given = await scene.db.selectFrom('installation_events').select('payload').execute();
    const newest = (await attempts())
      .slice(-2)
      .map(({ id }) => expect.objectContaining({ delivery_id: id }));
    expect(given.map(({ payload }) => payload)).toEqual(expect.arrayContaining(newest));
  });

  test('reads as many pages as the window has, and asks for at most a minute’s worth', async () => {
    await scene.queueJobs(230);
    expect(await scene.cycle()).toMatchObject({
      pages: 3,
      attempts: 230,
      failed: 230,
      accepted: 150,
      moreDue: true,
    });
    await scene.holdMinute();
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
    await sql`update unresolved_deliveries set last_requested_at = last_requested_at - interval '1 minute'`.execute(
      scene.db,
    );
    expect(await scene.cycle()).toMatchObject({ accepted: 80, moreDue: false });
    expect(new Set(scene.receiver.received.map(({ guid }) => guid)).size).toBe(230);
  });

  test('asks for queued jobs first, then completed ones, then those in progress; installations take turns', async () => {
    await scene.queueJobs(1, {});
    await scene.world.github.setDeliveryFaults({ lossRate: 1 });
    await scene.world.github.queueJob({
      repo: 'acme/api',
      labels: ['ubuntu-latest'],
      hosted: true,
      durationMs: 1,
    });
    await scene.world.github.sendExample(scene.world.appId, 'installation', 0);
    await scene.world.github.settled();
    const { jobs } = await scene.world.github.truth();
    expect(jobs).toHaveLength(2);
    await scene.cycle();
    const actionOf = new Map(
      (await attempts()).map(({ id, event, action }) => [id, `${event}.${action}`]),
    );
    const order = scene.asked.map((id) => actionOf.get(id) ?? '');
    expect(order).toEqual([
      'workflow_job.queued',
      'installation.deleted',
      'workflow_job.completed',
      'workflow_job.in_progress',
    ]);
  });
});

describe('spacing of requests (E1)', () => {
  test('a delivery that fails again is requested after 5, 5, 5, 10, 20, 40, then 60 minutes, counted from the last request', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(500);
    const waits: number[] = [];
    for (let request = 0; request < 8; request++) {
      await scene.cycle();
      const [row] = await scene.unresolved();
      waits.push(
        Math.round(
          ((row?.nextRequestAt.getTime() ?? 0) - (row?.lastRequestedAt?.getTime() ?? 0)) / 60_000,
        ),
      );
      await scene.cycle();
      expect(scene.asked).toHaveLength(request + 1);
      await scene.passAnHour();
    }
    expect(waits).toEqual([5, 5, 5, 10, 20, 40, 60, 60]);
  });

  test.each([
    ['within a tenth of the time to the next cycle is asked for now', 20, 1],
    ['later is left to the next cycle', 60, 0],
  ])(
    'a delivery that is due %s: cycles do not come at even times',
    async (_when, seconds, accepted) => {
      await scene.queueJobs(1);
      await scene.cycle({ perMinute: 0 });
      await sql`update unresolved_deliveries set next_request_at = now() + ${seconds} * interval '1 second'`.execute(
        scene.db,
      );
      expect(await scene.cycle({ everySeconds: 300 })).toMatchObject({ accepted });
    },
  );

  test('a success newer than its last failure has a delivery asked for at once', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(500);
    await scene.cycle();
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
    scene.receiver.answerWith(200);
    await scene.queueJobs(1, {});
    expect(await scene.cycle()).toMatchObject({ accepted: 1 });
  });

  test('a body that our endpoint refuses with 400 keeps to its spacing, however well others get through', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(400);
    await scene.cycle();
    await scene.cycle();
    await sql`update unresolved_deliveries set last_requested_at = now() - interval '2 minutes', last_failed_at = now() - interval '1 minute'`.execute(
      scene.db,
    );
    scene.receiver.answerWith(200);
    await scene.queueJobs(1, {});
    const { rows } = await sql<{
      code: number;
    }>`select last_status_code as code from unresolved_deliveries`.execute(scene.db);
    expect(rows).toEqual([{ code: 400 }]);
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
  });

  test('given up by age only, with an event row that says so', async () => {
    await scene.queueJobs(2);
    scene.receiver.answerWith(500);
    await scene.cycle();
    await sql`update unresolved_deliveries set requests = 1000`.execute(scene.db);
    expect(await scene.cycle()).toMatchObject({ givenUp: 0 });
    const [old] = await scene.unresolved();
    await sql`update unresolved_deliveries set first_failed_at = now() - interval '73 hours' where guid = ${old?.guid}`.execute(
      scene.db,
    );
    expect(await scene.cycle()).toMatchObject({ givenUp: 1 });
    // The log still shows its attempts.
    expect(await scene.cycle()).toMatchObject({ failed: 1, givenUp: 0 });
    const events = await scene.db.selectFrom('installation_events').selectAll().execute();
    expect(events).toEqual([
      expect.objectContaining({
        source: 'reconciler',
        event: 'workflow_job.queued',
        outcome: 'redelivery_given_up',
        app_id: scene.world.appId,
        delivery_guid: old?.guid,
        payload: expect.objectContaining({ requests: 1000 }),
      }),
    ]);
  });
});
