import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { executorEvents } from '@paddock/queue/executor-events';
import { createMetrics } from '@paddock/runtime/metrics';
import type { TestDatabase } from '@paddock/testing/database';
import type { ReconcilerConfig } from '../settings.ts';
import { CONFIG, useScene, usualSweeps } from './sweep.scene.ts';
import { createEvents } from '../events.ts';
import { startRedeliveryScene } from './redelivery.scene.ts';
import { sweepKinds } from '../sweeps.ts';
import { SILENT_LOG } from '@paddock/testing/stand-ins';

const noneHeld = () => Promise.resolve(new Set<number>());

/** All sweeps of the reconciler on an emptied database and a simulated GitHub. */
async function startSweeps(database: TestDatabase) {
  const scene = await startRedeliveryScene(database, { losesRows: true });
  const { appId } = scene.world;
  const { own: db, contextOf } = usualSweeps(database, scene.world);
  const config = { ...CONFIG, github: { apps: [{ appId }] } } as unknown as ReconcilerConfig;
  const metrics = createMetrics();
  const events = createEvents({
    log: SILENT_LOG,
    metrics,
    lateAfterSeconds: 60,
    findHeld: noneHeld,
  });
  const taskEvents = executorEvents(metrics, SILENT_LOG);
  const kinds = sweepKinds({ ...contextOf({ config }), events, taskEvents });
  return {
    scene,
    config,
    metrics,
    kinds,
    drain: () => runDueTasks({ db, kinds }),
    put: (kind: string, subject = { type: 'schedule', id: kind }, payload = {}) =>
      enqueueAlone(database.db, [{ kind, subject, payload }]),
    operations: () =>
      database.db
        .selectFrom('operations')
        .selectAll()
        .orderBy('kind')
        .orderBy('finished_at')
        .execute(),
    stop: scene.stop,
  };
}

export const useSweeps = (database: TestDatabase) => useScene(() => startSweeps(database));
