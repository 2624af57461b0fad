import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { putInstallation } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { useRedeliveryScene } from '../scenes/use-scenes.scene.ts';
import type { DeliveryLog } from './redeliver.ts';
import { readSince, redeliverSince, type RedeliverSinceOptions } from './redeliver-since.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database, { losesRows: true });
let listingFailures: string[];

beforeEach(() => {
  listingFailures = [];
});

const find = (more: Partial<RedeliverSinceOptions> = {}) =>
  redeliverSince(
    {
      db: database.dbOf('reconciler'),
      appId: scene.world.appId,
      log: scene.log,
      events: { listingFailed: (_appId, { kind }) => void listingFailures.push(kind) },
      since: new Date(Date.now() - 3_600_000),
      cursor: undefined,
      maxPages: 100,
      dryRun: false,
      ...more,
    },
    new AbortController().signal,
  );
const guids = async () => (await scene.world.github.truth()).deliveries.map(({ guid }) => guid);

describe('redeliver since (E1, F5)', () => {
  test('asks again for all that our events lack, even where GitHub has a 2xx, until the rows are here', async () => {
    await scene.queueJobs(3, {});
    const [stored, ...lost] = await guids();
    await scene.storeEvent(stored ?? '');
    expect(await find()).toEqual({ pages: 1, attempts: 3, missing: 2 });
    expect(await scene.cycle()).toMatchObject({ accepted: 2, resolved: 0 });
    // GitHub calls them delivered, twice now; only our own row ends it.
    await scene.storeEvent(lost[0] ?? '');
    expect(await scene.cycle()).toMatchObject({ accepted: 0, resolved: 1 });
    await scene.passAnHour();
    expect(await scene.cycle()).toMatchObject({ accepted: 1 });
    const arrivals = (guid: string | undefined) =>
      scene.receiver.received.filter((received) => received.guid === guid).length;
    expect([stored, ...lost].map(arrivals)).toEqual([1, 2, 3]);
    await scene.storeEvent(lost[1] ?? '');
    await scene.cycle();
    expect(await scene.unresolved()).toEqual([]);
  });

  test('leaves deliveries before its instant as they are', async () => {
    await scene.queueJobs(1, {});
    await scene.pass(120);
    await scene.queueJobs(1, {});
    const since = new Date(Date.now() + 60 * 60_000);
    expect(await find({ since })).toEqual({ pages: 1, attempts: 1, missing: 1 });
  });

  test('goes on from where a pass stopped, at its cap of pages or at a page that failed', async () => {
    await scene.queueJobs(250, {});
    const first = await find({ maxPages: 1 });
    expect(first).toEqual({ pages: 1, attempts: 100, missing: 100, cursor: expect.any(String) });
    await scene.world.github.failNext({ path: '/app/hook/deliveries$', status: 502, after: 1 });
    const second = await find({ cursor: first.cursor });
    expect(second).toEqual({ pages: 1, attempts: 100, missing: 100, cursor: expect.any(String) });
    expect(listingFailures).toEqual(['unavailable']);
    expect(await find({ cursor: second.cursor })).toEqual({ pages: 1, attempts: 50, missing: 50 });
    expect(await scene.unresolved()).toHaveLength(250);
  });

  test('fails and is tried again if it could read nothing', async () => {
    await scene.world.github.failNext({ path: '/app/hook/deliveries$', status: 502 });
    await expect(find()).rejects.toThrow(/Failed on demand/);
  });

  test('fails when GitHub does not say how the log continues, after it has asked for the failures that it has read', async () => {
    await scene.queueJobs(1, {});
    const list: DeliveryLog['list'] = async (cursor) => ({
      deliveries: (await scene.log.list(cursor)).deliveries,
      isCutOff: true,
    });
    await expect(find({ log: { list } })).rejects.toThrow(
      /full page of the delivery log without a cursor/,
    );
    expect(await scene.unresolved()).toHaveLength(1);
    // As far as was asked for, it is complete.
    await scene.pass(120);
    await scene.queueJobs(1, {});
    const since = new Date(Date.now() + 60 * 60_000);
    expect(await find({ log: { list }, since })).toEqual({ pages: 1, attempts: 1, missing: 1 });
  });

  test('only counts in a dry run', async () => {
    await scene.queueJobs(2, {});
    expect(await find({ dryRun: true })).toMatchObject({ missing: 2 });
    expect(await scene.unresolved()).toEqual([]);
  });

  test('reads its payload, and refuses an invalid one', () => {
    expect(readSince({ since: '2026-01-01T12:00:00Z' })).toEqual({
      since: new Date(Date.UTC(2026, 0, 1, 12)),
      cursor: undefined,
    });
    for (const payload of [undefined, null, {}, { since: 'yesterday' }, { since: 5 }])
      expect(readSince(payload)).toBeUndefined();
  });
});

const handedOver = () =>
  scene.db.selectFrom('repositories').select(['repo_id', 'entity_id']).execute();

const knowAcme = () => putInstallation(scene.db, installationOf(scene.world.organization));

describe('redelivery asks discovery for repositories (E1)', () => {
  test('the repository of a given-up delivery, at once', async () => {
    await knowAcme();
    await scene.queueJobs(1);
    scene.receiver.answerWith(500);
    await scene.cycle();
    await sql`update unresolved_deliveries set first_failed_at = now() - interval '73 hours'`.execute(
      scene.db,
    );
    expect(await scene.cycle()).toMatchObject({ givenUp: 1 });
    expect(await handedOver()).toEqual([
      { repo_id: scene.world.repositories.api, entity_id: scene.world.organization.id },
    ]);
    const due = await sql`select from repositories where due_at < now()`.execute(scene.db);
    expect(due.rows).toHaveLength(1);
  });

  test('above a number of unresolved deliveries, the repositories that are named in the list', async () => {
    await knowAcme();
    await scene.queueJobs(3);
    expect(await scene.cycle({ handOverAbove: 3, perMinute: 0 })).toMatchObject({ handedOver: 0 });
    expect(await handedOver()).toEqual([]);
    expect(await scene.cycle({ handOverAbove: 2, perMinute: 0 })).toMatchObject({ handedOver: 1 });
    expect(await handedOver()).toHaveLength(1);
  });

  test('not a repository of an entity that we do not know', async () => {
    await scene.queueJobs(3);
    expect(await scene.cycle({ handOverAbove: 0, perMinute: 0 })).toMatchObject({ handedOver: 0 });
  });
});
