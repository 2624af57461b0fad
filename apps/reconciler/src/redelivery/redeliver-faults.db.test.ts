import { describe, expect, test } from '@jest/globals';
import type { GitHubFault } from '@paddock/simulators/github/world';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import {
  type RedeliveryScene,
  startRedeliveryScene,
  useRedeliveryScene,
} from '../scenes/redelivery.scene.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database);

describe('when GitHub fails (E1)', () => {
  test('a list call that fails half-way keeps the pages that were read, and does not move the mark', async () => {
    await scene.queueJobs(1, {});
    await scene.cycle();
    await scene.forgetTwoHours();
    const before = await scene.logMark();
    await scene.queueJobs(120);
    await scene.failList({ status: 502, after: 1 });
    const half = { pages: 1, failed: 100, accepted: 100, listed: false };
    expect(await scene.cycle()).toMatchObject(half);
    // It goes on at its next tick, not at once where GitHub has just failed.
    expect(scene.followed()).toBe(0);
    expect(scene.listingFailures()).toEqual(['unavailable']);
    expect(await scene.logMark()).toEqual({ readTo: before?.readTo, cursor: expect.any(String) });
    await scene.asIfAsked(120);
    expect(await scene.cycle()).toMatchObject({ listed: true, accepted: 20 });
    expect(new Set(scene.receiver.received.map(({ guid }) => guid)).size).toBe(121);
    expect((await scene.logMark())?.cursor).toBeNull();
  });

  test('entries that were read but could not be stored are read again, even long after', async () => {
    await scene.queueJobs(1, {});
    await scene.cycle();
    await scene.queueJobs(1);
    // A page older than the part that each cycle reads, which does not begin and end at one
    // instant.
    await scene.lengthenLog(50);
    await scene.pass(1);
    await scene.lengthenLog(50);
    await scene.pass(60);
    const { db } = scene;
    await sql`alter table unresolved_deliveries add constraint full_disk check (false)`.execute(db);
    try {
      await expect(scene.cycle()).rejects.toThrow('full_disk');
    } finally {
      await sql`alter table unresolved_deliveries drop constraint full_disk`.execute(db);
    }
    expect(await scene.cycle()).toMatchObject({ failed: 1, accepted: 1 });
  });

  test.each([
    ['of this reading', 404, 1],
    ['of the reading that broke off', 422, 2],
  ])(
    'a cursor %s that GitHub refuses with %d is given up, the log is read anew, and refuses nobody',
    async (_whose, status, after) => {
      await scene.queueJobs(1, {});
      await scene.cycle();
      await scene.forgetTwoHours();
      await scene.queueJobs(120);
      await scene.failList({ status: 502, after: 1 });
      const config = { redeliveryRequestsPerMinute: 0 };
      await scene.cycle({ config });
      await scene.failList({ status, after });
      expect(await scene.cycle({ config })).toMatchObject({ pages: after, listed: false });
      expect((await scene.logMark())?.cursor).toBeNull();
      expect(await scene.cycle()).toMatchObject({ pages: 2, listed: true, failed: 120 });
      const events = scene.db.selectFrom('installation_events').where('source', '<>', 'webhook');
      expect(await events.select('event').execute()).toEqual([]);
    },
  );

  test.each([
    ['refused', 422, 'invalid'],
    ['unknown', 404, 'not_found'],
  ])(
    'a redelivery that is %s is counted and spaced as others are, and the others go on',
    async (_how, status, kind) => {
      await scene.queueJobs(3);
      await scene.world.github.failNext({ method: 'POST', path: '/attempts$', status });
      expect(await scene.cycle()).toMatchObject({ accepted: 2, refused: 1 });
      expect(scene.refused()).toEqual([kind]);
      expect(scene.receiver.received).toHaveLength(2);
      for (const {
        requests,
        next_request_at: next,
        last_requested_at: last,
      } of await scene.unresolved())
        expect([requests, Number(next) - Number(last)]).toEqual([1, 300_000]);
      expect(await scene.cycle()).toMatchObject({ accepted: 0, refused: 0 });
      await scene.passAnHour();
      expect(await scene.cycle()).toMatchObject({ accepted: 1, refused: 0 });
    },
  );

  test.each([{ status: 500 }, { status: 503, headers: { 'retry-after': '3600' } }])(
    'a redelivery that a broken server stopped is due in the next cycle again, and the others go on: %j',
    async (fault) => {
      await scene.queueJobs(3);
      await scene.world.github.failNext({ method: 'POST', path: '/attempts$', ...fault });
      // Not at once: GitHub has to recover.
      expect(await scene.cycle()).toMatchObject({ accepted: 2, refused: 1, moreDue: false });
      expect(scene.refused()).toEqual(['unavailable']);
      expect(await scene.cycle()).toMatchObject({ accepted: 1, refused: 0 });
    },
  );

  test.each([
    ['a rate limit', 429],
    ['a secondary limit', 403],
  ])(
    '%s (%d): no request is made until GitHub’s wait is over, also for failures meanwhile',
    async (_name, status) => {
      await scene.queueJobs(3);
      const fault = { method: 'POST', path: '/attempts$', headers: { 'retry-after': '120' } };
      await scene.world.github.failNext({ ...fault, status });
      const waits = { outcome: 'snooze', delayMs: expect.any(Number) };
      expect(await scene.cycle()).toMatchObject(waits);
      expect(scene.refused()).toHaveLength(1);
      await scene.pass(1);
      await scene.queueJobs(1);
      expect(await scene.cycle()).toMatchObject(waits);
      // A success in the log causes requests for earlier failures at once: not now.
      await scene.queueJobs(1, {});
      expect(await scene.cycle()).toMatchObject(waits);
      expect([scene.asked.length, scene.refused().length]).toEqual([1, 1]);
      await scene.pass(2);
      expect(await scene.cycle()).toMatchObject({ accepted: 4, refused: 0 });
      expect(await scene.unresolved()).toHaveLength(4);
    },
  );

  test('a limit on the list holds back the requests too: GitHub extends the wait of a caller that continues', async () => {
    await scene.queueJobs(120);
    await scene.failList({ status: 403, headers: { 'retry-after': '120' }, after: 1 });
    expect(await scene.cycle()).toMatchObject({ outcome: 'snooze' });
    expect(await scene.unresolved()).toHaveLength(100);
    expect(scene.asked).toEqual([]);
    await scene.pass(3);
    expect(await scene.cycle()).toMatchObject({ accepted: 120, listed: true });
  });

  test.each([
    { id: null },
    { status_code: 2 ** 40 },
    { status_code: 0.5 },
    { delivered_at: '0000-01-01T00:00:00Z' },
    { installation_id: 1.5 },
  ])('an entry of the log with %j keeps no other from being asked for', async (odd) => {
    const lost = { id: 2, guid: 'lost', event: 'workflow_job', action: 'queued', status_code: 500 };
    const one = { ...lost, delivered_at: new Date().toISOString() };
    await scene.failList({ status: 200, body: [{ ...one, id: 1, guid: 'odd', ...odd }, one] });
    await scene.cycle();
    expect((await scene.unresolved()).map(({ guid }) => guid)).toContain('lost');
  });

  test('an App that GitHub does not know is written down, for the “why” (C9)', async () => {
    await scene.failList({ status: 404 });
    expect(await scene.cycle()).toMatchObject({ listed: false });
    const events = await scene.db.selectFrom('installation_events').selectAll().execute();
    const payload = { http_status: 404, operation: 'GET /app/hook/deliveries' };
    const refused = { event: 'auth_attempt.404', outcome: 'auth_404', app_id: scene.world.appId };
    expect(events).toMatchObject([{ ...refused, payload }]);
  });

  test('an App that GitHub refuses asks for no delivery, so that none is put off by that (C11, P4)', async () => {
    await scene.queueJobs(2);
    await scene.cycle({ config: { redeliveryRequestsPerMinute: 0 } });
    await scene.world.github.failNext({ path: '/app/hook/deliveries', status: 401, times: 9 });
    expect(await scene.cycle()).toMatchObject({ listed: false, accepted: 0, refused: 0 });
    expect(scene.asked).toEqual([]);
    await scene.world.github.clearFaults();
    expect(await scene.cycle()).toMatchObject({ listed: true, accepted: 2 });
  });

  const faults: [string, Omit<GitHubFault, 'path' | 'after'>][] = [
    ['answers 500', { status: 500 }],
    ['cuts the connection', {}],
    ['does the work and loses its answer', { afterCommit: true }],
  ];
  const turns = faults.flatMap(([how, fault]) =>
    [0, 1, 2, 3, 4].map((after): [string, (typeof faults)[0][1], number] => [how, fault, after]),
  );
  test.each(turns)(
    'where it %s (%j), on the call after %d others, all deliveries come in all the same',
    async (_how, fault, after) => {
      // Lost ones on both pages of the log.
      await scene.queueJobs(2);
      await scene.lengthenLog(99);
      await scene.queueJobs(2);
      await scene.world.github.failNext({ ...fault, path: '/app/hook/deliveries', after });
      await scene.cycle();
      await scene.world.github.clearFaults();
      await scene.asIfAsked(120);
      await scene.cycle();
      await scene.cycle();
      expect(new Set(scene.receiver.received.map(({ guid }) => guid)).size).toBe(4);
      expect(await scene.unresolved()).toEqual([]);
    },
  );
});

/** GUIDs that our endpoint has accepted, by GitHub's log. */
const accepted = async () =>
  new Set(
    (await scene.attempts()).filter(({ statusCode }) => statusCode === 202).map(({ guid }) => guid),
  );

/**
 * Two hours in which our endpoint answers so, with some jobs every five minutes. Returns the most
 * pages that a cycle read.
 */
async function twoHours(answer: number, jobs: number, cycle?: RedeliveryScene['cycle']) {
  scene.receiver.answerWith(answer);
  let pages = 0;
  for (let step = 0; step < 24; step++) {
    await scene.queueJobs(jobs, {});
    await scene.pass(5);
    if (cycle !== undefined) pages = Math.max(pages, (await cycle())['pages'] ?? 0);
  }
  scene.receiver.answerWith(202);
  return pages;
}

describe('after an outage (E1)', () => {
  test('of ingress for two hours: two cycles and the requests of a minute, with as many pages as before', async () => {
    const cycle = () => scene.cycle({ config: { redeliveryRequestsPerMinute: 60 } });
    await cycle();
    const pagesBefore = await twoHours(503, 4, cycle);
    expect(await accepted()).toEqual(new Set());
    for (let nth = 0; nth < 2; nth++) {
      await scene.pass(5);
      // The window's edge falls now on this, now on that side of a page's.
      expect((await cycle())['pages']).toBeLessThanOrEqual(pagesBefore + 1);
    }
    // The second cycle could ask for no more than a minute's worth.
    await scene.pass(1);
    expect(await cycle()).toMatchObject({ moreDue: false });
    expect((await accepted()).size).toBe(96);
  });

  test('Paddock down for two hours: one listing down to the last one, and no delivery is missing', async () => {
    await scene.queueJobs(1, {});
    await scene.cycle();
    await twoHours(503, 10);
    const counts = { pages: 3, failed: 240, accepted: 150, moreDue: true };
    expect(await scene.cycle()).toMatchObject(counts);
    await scene.holdMinute();
    // Within the same minute: requests beyond its limit still have the next one.
    expect(await scene.cycle()).toMatchObject({ accepted: 0, moreDue: true });
    await scene.pass(1);
    expect(await scene.cycle()).toMatchObject({ accepted: 90, moreDue: false });
    expect((await accepted()).size).toBe(241);
  });

  test('Paddock down for two hours: no delivery is missing, though the log once had an instant of the year 9999', async () => {
    const odd = { id: 1, guid: 'odd', event: 'ping', delivered_at: '9999-12-31T00:00:00Z' };
    await scene.failList({ status: 200, body: [odd] });
    await scene.cycle();
    await twoHours(503, 10);
    expect(await scene.cycle()).toMatchObject({ failed: 240 });
  });

  test.each([-3_600_000, 3_600_000])(
    'clocks differ by %d ms: pages are read as far as they must be, and no further',
    async (skewMs) => {
      const skewed = await startRedeliveryScene(database, { skewMs });
      await skewed.cycle();
      await skewed.queueJobs(1, {});
      await skewed.cycle();
      await skewed.queueJobs(130);
      await skewed.pass(5);
      const counts = { listed: true, pages: 2, failed: 130, accepted: 130 };
      expect(await skewed.cycle()).toMatchObject(counts);
      await skewed.pass(30);
      expect(await skewed.cycle()).toMatchObject({ listed: true, failed: 0, resolved: 130 });
      await skewed.stop();
    },
  );
});
