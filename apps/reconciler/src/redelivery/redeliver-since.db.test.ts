import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { putInstallation } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Given } from '../scenes/pass.scene.ts';
import { logMark } from '../scenes/redelivery.scene.ts';
import { useRedeliveryScene } from '../scenes/use-scenes.scene.ts';
import type { DeliveryLog } from './read-delivery-log.ts';
import type { RedeliverOptions } from './redeliver.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database, { losesRows: true });

const find = (more: Given<RedeliverOptions> = {}) =>
  scene.cycle({ since: new Date(Date.now() - 3_600_000), ...more });
const guids = async () => (await scene.world.github.truth()).deliveries.map(({ guid }) => guid);

describe('redeliver since (E1, F5)', () => {
  test('asks again for all that our events lack, even where GitHub has a 2xx, until the rows are here', async () => {
    await scene.queueJobs(3, {});
    const [stored, ...lost] = await guids();
    await scene.storeEvent(stored ?? '');
    // The log was read whole before.
    await sql`insert into apps (app_id, log_read_to) values (${scene.world.appId}, now() + interval '1 minute')`.execute(
      scene.db,
    );
    expect(await find()).toMatchObject({
      pages: 1,
      attempts: 3,
      missing: 2,
      accepted: 2,
      more: false,
    });
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
    expect(await find({ since })).toMatchObject({ pages: 1, attempts: 2, missing: 1 });
  });

  test('goes on from where a pass stopped, at its cap of pages or at a page that failed', async () => {
    await scene.queueJobs(200, {});
    await scene.pass(1);
    // The newest page has two instants: so one page reads what is new.
    await scene.queueJobs(50, {});
    await scene.pass(30);
    const since = new Date(Date.now() - 3_600_000);
    const more = { since, perMinute: 0 };
    expect(await find({ ...more, maxPages: 1 })).toMatchObject({ missing: 100, more: true });
    await scene.world.github.failNext({ path: '/app/hook/deliveries$', status: 502, after: 2 });
    await expect(find(more)).rejects.toThrow(/Failed on demand/);
    expect(scene.listingFailures).toEqual(['unavailable']);
    expect(await scene.unresolved()).toHaveLength(200);
    expect(await logMark(scene.db)).toEqual({ readTo: since, cursor: expect.any(String) });
    expect(await find(more)).toMatchObject({ pages: 2, missing: 50, more: false });
    expect(await scene.unresolved()).toHaveLength(250);
    // Without a person, too: the mark keeps it.
    expect((await logMark(scene.db))?.cursor).toBeNull();
  });

  test('fails and is tried again if it could read nothing', async () => {
    await scene.world.github.failNext({ path: '/app/hook/deliveries$', status: 502 });
    await expect(find()).rejects.toThrow(/Failed on demand/);
  });

  test('fails when GitHub does not say how the log continues, after it has asked for the failures that it has read', async () => {
    await scene.queueJobs(1, {});
    const list: DeliveryLog['list'] = async (cursor) => {
      const { deliveries, answeredAt } = await scene.log.list(cursor);
      return { deliveries, answeredAt, isCutOff: true };
    };
    const log = { ...scene.log, list };
    await expect(find({ log })).rejects.toThrow(/full page of the delivery log without a cursor/);
    expect(await scene.unresolved()).toHaveLength(1);
    // As far as was asked for, it is complete.
    await scene.pass(120);
    await scene.queueJobs(1, {});
    const since = new Date(Date.now() + 60 * 60_000);
    await sql`update apps set log_read_to = null`.execute(scene.db);
    expect(await find({ log, since })).toMatchObject({ missing: 1, listed: true });
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
