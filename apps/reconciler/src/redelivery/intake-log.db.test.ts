import { beforeEach, describe, expect, test } from '@jest/globals';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { deliveryToRecord } from '@paddock/testing/deliveries-to-record';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { type DeliveryPage, readDelivery } from '@paddock/github/deliveries';
import { putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { useRedeliveryScene } from '../scenes/redelivery.scene.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database, { losesRows: true });
beforeEach(() => putPools(database.db));

/** A pass over the log, from which deliveries are taken. */
const look = (given: Parameters<typeof scene.cycle>[0] = {}) =>
  scene.cycle({ takesFromLog: () => true, ...given });

/** Queues jobs whose deliveries reach no endpoint. */
async function queue(count: number): Promise<number[]> {
  const { github } = scene.world;
  await github.setDeliveryFaults({ lossRate: 1 });
  const job = { repo: 'acme/api', labels: ['self-hosted', 'linux'] };
  const queued = Array.from({ length: count }, async () => (await github.queueJob(job)).id);
  const ids = await Promise.all(queued);
  await github.settled();
  return ids.toSorted((a, b) => a - b);
}

const waiting = async () => {
  const jobs = database.db.selectFrom('jobs').select('job_id').where('wants_worker', '=', true);
  return (await jobs.orderBy('job_id').execute()).map(({ job_id: id }) => id);
};

const stored = () =>
  database.db
    .selectFrom('installation_events')
    .select(['delivery_guid as guid', 'event', 'outcome'])
    .where('source', '=', 'webhook')
    .orderBy('id')
    .execute();

const callsOf = async (operation: string) =>
  (await scene.world.github.report()).calls[`apps/${operation}`] ?? 0;

const BODY = { method: 'GET', path: String.raw`/app/hook/deliveries/\d+$` };

describe('deliveries that are taken from GitHub’s log', () => {
  test('of a burst over several pages become jobs, each by one call, and nothing is asked for again', async () => {
    const ids = await queue(230);
    await look();
    expect(await waiting()).toEqual(ids);
    expect(await callsOf('get-webhook-delivery')).toBe(230);
    await look();
    expect(await callsOf('get-webhook-delivery')).toBe(230);
    expect(scene.asked).toEqual([]);
    expect(await scene.unresolved()).toEqual([]);
  });

  test('count once where the webhook brings them too, before or after', async () => {
    const [first, second] = await queue(2);
    const pools = await currentPoolsDocument(database.db);
    if (pools === undefined) throw new Error('The test has put pools in force.');
    /** As ingress stores it. */
    const arrive = async (nth: number) => {
      const { id, guid } = (await scene.attempts())[nth] ?? { id: '', guid: '' };
      const { event, payload } = await readDelivery(scene.app, id);
      const body = JSON.parse(payload) as Parameters<typeof deliveryToRecord>[1];
      const given = deliveryToRecord(event, body, scene.world.appId, { guid });
      return recordDeliveries(database.db, [given], pools);
    };
    expect(await arrive(0)).toEqual(['job_stored']);
    await look();
    expect(await arrive(1)).toEqual(['job_already_exists']);
    expect(await callsOf('get-webhook-delivery')).toBe(3);
    expect(await waiting()).toEqual([first, second]);
    const events = await stored();
    expect(events.filter(({ outcome }) => outcome === 'job_stored')).toHaveLength(2);
  });

  test('of installations arrive as well, also where something else answered in our place', async () => {
    const { github, organization } = scene.world;
    await github.setDeliveryFaults({ lossRate: 1, lossStatusCode: 200 });
    await github.suspend(organization.installationId);
    await github.settled();
    await look();
    const rows = database.db.selectFrom('installations').select('suspended_at');
    expect(await rows.execute()).toEqual([{ suspended_at: expect.any(Date) }]);
    expect(scene.unstored()).toEqual([]);
  });

  test('wait where GitHub asks for it, and all come afterwards', async () => {
    const ids = await queue(3);
    await scene.world.github.failNext({ ...BODY, status: 429, headers: { 'retry-after': '60' } });
    expect(await look()).toMatchObject({ outcome: 'snooze', delayMs: expect.closeTo(60_000, -4) });
    expect(await look()).toMatchObject({ outcome: 'snooze', delayMs: expect.closeTo(60_000, -4) });
    expect(await callsOf('get-webhook-delivery')).toBe(1);
    await scene.pass(1);
    await look();
    expect(await waiting()).toEqual(ids);
  });

  test('without a body, or with one that says nothing, hold up no other', async () => {
    const ids = await queue(4);
    await scene.world.github.failNext({ ...BODY, status: 404 });
    // A number that JavaScript cannot hold.
    const payload = { action: 'queued', hook: 3_804_004_623_000_000_000 };
    const body = { event: 'workflow_job', request: { payload } };
    await scene.world.github.failNext({ ...BODY, status: 200, body });
    await look();
    expect(await waiting()).toHaveLength(2);
    expect(scene.refused()).toEqual(['not_found']);
    expect(scene.unusable()).toHaveLength(1);
    await scene.passAnHour();
    await look();
    expect(await waiting()).toEqual(ids);
  });

  test('leave a tenth of the App’s calls to lists and tokens', async () => {
    const ids = await queue(3);
    const { github, appId } = scene.world;
    const limit = { caller: { appId }, resource: 'core' } as const;
    await github.setRateLimit({ ...limit, remaining: 1_502 });
    // The list costs one.
    await look();
    expect(await waiting()).toHaveLength(1);
    await github.setRateLimit({ ...limit, remaining: 15_000 });
    await look();
    expect(await waiting()).toEqual(ids);
  });

  test('a page that has not changed costs nothing, and is judged again', async () => {
    const newestPages = new Map<number, DeliveryPage>();
    await queue(1);
    await look({ newestPages });
    const { appId } = scene.world;
    const left = () => scene.budgetOf(`app ${appId}`)?.remaining;
    const before = left();
    for (const table of ['installation_events', 'unresolved_deliveries'])
      await sql`delete from ${sql.ref(table)}`.execute(database.db);
    await look({ newestPages });
    expect(await stored()).toHaveLength(1);
    // The body cost one.
    expect(left()).toBe((before ?? 0) - 1);
    expect(await callsOf('list-webhook-deliveries')).toBe(2);
  });

  test('one operation stands for a cadence: the looks between leave none', async () => {
    await queue(1);
    expect(await look()).toMatchObject({ accepted: 1 });
    await queue(1);
    expect(await look()).toMatchObject({ outcome: 'snooze', delayMs: 5_000 });
    expect(await waiting()).toHaveLength(2);
  });

  test.each([401, 404])(
    'where GitHub refuses them (%d), are looked for a minute later (C9, P4)',
    async (status) => {
      await look();
      await scene.failList({ status });
      expect(await look()).toMatchObject({ outcome: 'snooze', delayMs: 60_000 });
      expect(await look()).toMatchObject({ outcome: 'snooze', delayMs: 5_000 });
    },
  );
});
