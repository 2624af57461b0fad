import { beforeEach, describe, expect, test } from '@jest/globals';
import { putInstallation } from '@paddock/testing/demand-rows';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { APP_ID } from '../scenes/settings.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
beforeEach(async () => {
  await world.db.deleteFrom('installations').execute();
});

/** An App that was taken out of the configuration. */
const REMOVED = { app_id: 999, installation_id: 4711 };
const install = (app: { app_id: number; installation_id: number }) =>
  putInstallation(world.db, { ...app, entity_id: world.entityId });

describe('a job from an App that is no longer configured', () => {
  test('gets its worker through the App that replaced it (A12)', async () => {
    await install(REMOVED);
    await install({ app_id: APP_ID, installation_id: world.installationId });
    await world.queueJob({ row: REMOVED });
    await world.settle();
    const workers = await world.workers();
    expect(
      workers.map((worker) => [
        worker.app_id,
        worker.installation_id,
        worker.registered_at !== null,
      ]),
    ).toEqual([[APP_ID, world.installationId, true]]);
    expect(await world.failing()).toEqual([]);
  });

  test('waits with the reason while no other is installed, and no worker fails for it (P5)', async () => {
    await install(REMOVED);
    await world.queueJob({ row: REMOVED });
    await world.settle();
    expect(await world.workers()).toEqual([]);
    const reasons = await world.db.selectFrom('demand_keys').select('wait_reason').execute();
    expect(reasons).toEqual([{ wait_reason: 'app_not_configured' }]);
  });
});
