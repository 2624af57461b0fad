import { beforeEach, describe, expect, test } from '@jest/globals';
import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { putInstallation } from '@paddock/testing/demand-rows';
import type { ReconcilerConfig } from '../settings.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { useRedeliveryScene } from '../scenes/redelivery.scene.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database, { losesRows: true });

const guids = async () => (await scene.attempts()).map(({ guid }) => guid);

describe('deliveries that GitHub calls successful and that our events lack (E1, P1)', () => {
  test('are reported once, and asked for until their rows are here', async () => {
    await scene.queueJobs(2, {});
    const [stored, lost] = await guids();
    await scene.storeEvent(stored ?? '');
    expect(await scene.cycle()).toMatchObject({ missing: 1, accepted: 1 });
    expect(scene.unstored()).toEqual([lost]);
    expect(scene.receiver.received.filter(({ guid }) => guid === lost)).toHaveLength(2);
    // GitHub calls the repetition successful as well, and the row is still not here.
    await scene.pass(5);
    expect(await scene.cycle()).toMatchObject({ missing: 0, accepted: 1 });
    expect(scene.unstored()).toEqual([lost]);
    await scene.storeEvent(lost ?? '');
    expect(await scene.cycle()).toMatchObject({ missing: 0, accepted: 0, resolved: 1 });
    expect(await scene.unresolved()).toEqual([]);
  });

  test.each([
    ['another action', { event: 'workflow_job.completed' }],
    ['another repository', { repo_id: 4_711 }],
    ['another installation', { installation_id: 4_711 }],
  ])('are not here because another body came under their GUID: %s', async (_what, stored) => {
    await scene.queueJobs(1, {});
    const [lost = ''] = await guids();
    await scene.storeEvent(lost);
    await database.db.updateTable('installation_events').set(stored).execute();
    expect(await scene.cycle()).toMatchObject({ missing: 1, accepted: 1 });
    await scene.pass(5);
    expect(await scene.cycle()).toMatchObject({ accepted: 1, resolved: 0 });
    await scene.storeEvent(lost);
    expect(await scene.cycle()).toMatchObject({ accepted: 0, resolved: 1 });
  });

  test('are here if their body was stored before, for their repetition can leave no other row', async () => {
    await scene.queueJobs(1, {});
    const [lost = ''] = await guids();
    expect(await scene.cycle()).toMatchObject({ missing: 1, accepted: 1 });
    await scene.storeEvent(lost, 'repeated_body');
    expect(await scene.cycle()).toMatchObject({ missing: 0, accepted: 0, resolved: 1 });
  });

  test('keep to their spacing where GitHub calls their repetition successful, however well others get through', async () => {
    await scene.queueJobs(1, {});
    expect(await scene.cycle()).toMatchObject({ accepted: 1 });
    await scene.pass(1);
    await scene.queueJobs(1, {});
    await scene.storeEvent((await guids()).at(-1) ?? '');
    expect(await scene.cycle()).toMatchObject({ missing: 0, accepted: 0 });
    expect(await scene.unresolved()).toHaveLength(1);
  });

  test('are not those that another environment took before there was this one, unless a person asks', async () => {
    await scene.queueJobs(1, {});
    await database.db
      .updateTable('instance')
      .set('created_at', sql<Date>`now()`)
      .execute();
    expect(await scene.cycle()).toMatchObject({ attempts: 1, missing: 0, accepted: 0 });
    expect(await find()).toMatchObject({ attempts: 1, missing: 1, accepted: 1 });
  });

  test('are not those that another endpoint took before Paddock read the log', async () => {
    await scene.queueJobs(1, {});
    await scene.pass(60);
    await scene.queueJobs(1, {});
    expect(await scene.cycle()).toMatchObject({ attempts: 2, missing: 1, accepted: 1 });
  });
});

const find = (config?: Partial<ReconcilerConfig>, since = new Date(Date.now() - 3_600_000)) =>
  scene.cycle({ since, ...(config && { config }) });

describe('redeliver since (E1, F5)', () => {
  test('asks again for all that our events lack, even where GitHub has a 2xx, until the rows are here', async () => {
    await scene.queueJobs(3, {});
    const [stored, ...lost] = await guids();
    await scene.storeEvent(stored ?? '');
    // The log was read whole before.
    const read = { app_id: scene.world.appId, log_read_to: new Date(Date.now() + 60_000) };
    await scene.db.insertInto('apps').values(read).execute();
    const counts = { pages: 1, attempts: 3, missing: 2, accepted: 2, more: false };
    expect(await find()).toMatchObject(counts);
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
    expect(await find({}, since)).toMatchObject({ pages: 1, attempts: 2, missing: 1 });
  });

  test('asks at once for what waits for its next request too, unless that was asked for in this minute', async () => {
    await scene.queueJobs(1);
    scene.receiver.answerWith(400);
    expect(await scene.cycle()).toMatchObject({ failed: 1, accepted: 1 });
    await scene.pass(2);
    expect(await scene.cycle()).toMatchObject({ accepted: 0 });
    expect(await find()).toMatchObject({ accepted: 1 });
    expect(await find()).toMatchObject({ accepted: 0 });
  });

  test('goes on from where a pass stopped, at its cap of pages or at a page that failed', async () => {
    await scene.queueJobs(200, {});
    await scene.pass(1);
    // The newest page has two instants: so one page reads what is new.
    await scene.queueJobs(50, {});
    await scene.pass(30);
    const since = new Date(Date.now() - 3_600_000);
    const config = { redeliveryRequestsPerMinute: 0 };
    const first = await find({ ...config, logPagesOfPass: 1 }, since);
    expect(first).toMatchObject({ missing: 100, more: true });
    await scene.failList({ status: 502, after: 2 });
    await expect(find(config, since)).rejects.toThrow(/Failed on demand/);
    expect(scene.listingFailures()).toEqual(['unavailable']);
    expect(await scene.unresolved()).toHaveLength(200);
    expect(await scene.logMark()).toEqual({ readTo: since, cursor: expect.any(String) });
    expect(await find(config, since)).toMatchObject({ pages: 2, missing: 50, more: false });
    expect(await scene.unresolved()).toHaveLength(250);
    // Without a person, too: the mark keeps it.
    expect((await scene.logMark())?.cursor).toBeNull();
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
    await scene.makeOld();
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
    for (const repositories of [0, 1]) {
      const config = { handOverAbove: 3 - repositories, redeliveryRequestsPerMinute: 0 };
      expect(await scene.cycle({ config })).toMatchObject({ handedOver: repositories });
      expect(await handedOver()).toHaveLength(repositories);
    }
  });
});

const poison = (text: string) => ({ outcome: 'poison', reason: expect.stringContaining(text) });
const requested = { outcome: 'done', output: { appId: expect.any(Number) } };

describe('one delivery (F5)', () => {
  let guid = '';
  beforeEach(async () => {
    await scene.queueJobs(1, {});
    guid = (await scene.attempts())[0]?.guid ?? '';
  });

  test('is requested by its newest attempt in the log, also where GitHub calls it delivered', async () => {
    expect(await scene.repeat(guid)).toMatchObject(requested);
    expect(await scene.repeat(guid)).toMatchObject(requested);
    expect(scene.asked).toHaveLength(2);
    expect(new Set(scene.asked).size).toBe(2);
  });

  test('that is unresolved needs no list, and its next request is put off', async () => {
    await scene.queueJobs(1);
    await scene.cycle();
    const [unresolved] = await scene.unresolved();
    expect(unresolved).toBeDefined();
    await scene.failList({ status: 502 });
    await scene.repeat(unresolved?.guid ?? '');
    const [after] = await scene.unresolved();
    expect(after?.requests).toBe((unresolved?.requests ?? 0) + 1);
  });

  test.each([
    ['the list', 'GET', '/app/hook/deliveries$'],
    ['the request', 'POST', '/attempts$'],
  ])('is tried again after %s has failed (D14)', async (_what, method, path) => {
    await scene.world.github.failNext({ method, path, status: 502 });
    await expect(scene.repeat(guid)).rejects.toMatchObject({ status: 502 });
    expect(await scene.repeat(guid)).toMatchObject(requested);
  });

  test('is found in the log of one App although another one’s cannot be read (P6)', async () => {
    const { github } = scene;
    const asApp: typeof github.asApp = (appId, ...given) =>
      github.asApp(appId === 1 ? 4711 : appId, ...given);
    const two = { ...github, appIds: [1, ...github.appIds], asApp };
    expect(await scene.repeat(guid, { github: two })).toMatchObject(requested);
    const unknown = '00000000-0000-4000-8000-000000000000';
    await expect(scene.repeat(unknown, { github: two })).rejects.toThrow('App 4711 is not among');
  });

  test('that is older than what one pass reads of a long log is not called gone', async () => {
    await scene.lengthenLog(100);
    const config = { logPagesOfPass: 1 };
    expect(await scene.repeat(guid, { config })).toEqual(poison('the newest 100 deliveries'));
    expect(await scene.repeat(guid)).toMatchObject(requested);
  });

  test('fails for good where GitHub refuses it, or has it no more', async () => {
    await scene.world.github.failNext({ method: 'POST', path: '/attempts$', status: 422 });
    expect(await scene.repeat(guid)).toEqual(poison('GitHub does not repeat the delivery'));
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await scene.repeat(unknown)).toEqual(poison('three days'));
  });
});
