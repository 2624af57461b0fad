import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { useRedeliveryScene } from '../scenes/use-scenes.scene.ts';

const database = useTestDatabase();
const scene = useRedeliveryScene(database, { losesRows: true });

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

  test('are asked for as soon as they are found, however many', async () => {
    await scene.queueJobs(101, {});
    expect(await scene.cycle({ handOverAbove: 0 })).toMatchObject({ missing: 101, accepted: 101 });
    expect(scene.unstored).toHaveLength(101);
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

  test('are not those that another endpoint took before Paddock read the log', async () => {
    await scene.queueJobs(1, {});
    await scene.pass(60);
    await scene.queueJobs(1, {});
    expect(await scene.cycle()).toMatchObject({ attempts: 2, missing: 1, accepted: 1 });
  });

  test('are asked for although the failure of another attempt was known before', async () => {
    await scene.queueJobs(1);
    expect(await scene.cycle()).toMatchObject({ failed: 1, accepted: 1 });
    // GitHub calls the repetition successful, but its row is not here.
    expect(await scene.cycle()).toMatchObject({ failed: 0, resolved: 0, accepted: 1 });
    await scene.storeEvent((await guids())[0] ?? '');
    expect(await scene.cycle()).toMatchObject({ resolved: 1, accepted: 0 });
  });
});
