import { useTestDatabase } from '@paddock/testing/use-test-database';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { FEW_MISSING } from './missing-deliveries.ts';
import { keepCadence } from '../scenes/redelivery.scene.ts';
import { useRedeliveryScene } from '../scenes/use-scenes.scene.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database, { losesRows: true });

beforeEach(async () => {
  await sql`insert into delivery_listings (app_id, newest_at, oldest_at)
    values (${scene.world.appId}, now() - interval '5 minutes', now() - interval '5 minutes')`.execute(
    database.db,
  );
  await keepCadence(database.db);
});

const guids = async () => (await scene.world.github.truth()).deliveries.map(({ guid }) => guid);

describe('deliveries that GitHub calls successful and that our events lack (E1, P1)', () => {
  test('are reported once, and asked for until their rows are here', async () => {
    await scene.queueJobs(2, {});
    const [stored, lost] = await guids();
    await scene.storeEvent(stored ?? '');
    expect(await scene.cycle()).toMatchObject({ missing: 1, accepted: 1 });
    expect(scene.unstored).toEqual([lost]);
    expect(scene.receiver.received.filter(({ guid }) => guid === lost)).toHaveLength(2);
    // GitHub calls the repetition successful as well, and the row is still not here.
    await scene.pass(5);
    expect(await scene.cycle()).toMatchObject({ missing: 0, accepted: 1 });
    expect(scene.unstored).toEqual([lost]);
    await scene.storeEvent(lost ?? '');
    expect(await scene.cycle()).toMatchObject({ missing: 0, accepted: 0, resolved: 1 });
    expect(await scene.unresolved()).toEqual([]);
  });

  test.each([
    ['another event', { event: 'star.created' }],
    ['another action', { event: 'workflow_job.completed' }],
    ['another repository', { repo_id: 4_711 }],
    ['another installation', { installation_id: 4_711 }],
  ])('are not here because another body came under their GUID: %s', async (_what, stored) => {
    await scene.queueJobs(1, {});
    const [lost = ''] = await guids();
    const event = {
      source: 'webhook',
      event: 'workflow_job.queued',
      outcome: 'ok',
      payload: '{}',
      delivery_guid: lost,
    } as const;
    await database.db
      .insertInto('installation_events')
      .values({ ...event, ...stored })
      .execute();
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

  test('many of them are reported but not asked for: people may first want to know why they were lost', async () => {
    await scene.queueJobs(FEW_MISSING + 1, {});
    const { missing, missingSince, accepted } = await scene.cycle();
    expect([missing, accepted]).toEqual([FEW_MISSING + 1, 0]);
    const [{ deliveredAt: oldest } = { deliveredAt: new Date() }] = (
      await scene.log.list(undefined)
    ).deliveries.toReversed();
    expect(missingSince?.getTime()).toBeLessThanOrEqual(oldest.getTime());
    expect(scene.unstored).toHaveLength(FEW_MISSING + 1);
    expect(await scene.unresolved()).toEqual([]);
  });

  test('are only counted by a dry run', async () => {
    await scene.queueJobs(1, {});
    expect(await scene.cycle({ dryRun: true })).toMatchObject({ missing: 1 });
    expect(scene.unstored).toEqual([]);
    expect(await scene.unresolved()).toEqual([]);
    expect(scene.asked).toEqual([]);
  });
});
