import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectSmallWorld } from '@paddock/github/scenes/connect-small-world.scene';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { executorEvents } from '@paddock/queue/executor-events';
import { createMetrics } from '@paddock/runtime/metrics';
import type { TestDatabase } from '@paddock/testing/database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { createWaits } from '@paddock/db/entities/waits';
import { type ReconcilerConfig, readReconcilerConfig } from '../config.ts';
import { githubIsAway, useScene } from './pass.scene.ts';
import { createEvents } from '../events.ts';
import { startRedeliveryScene } from './redelivery.scene.ts';
import { sweepKinds } from '../sweeps.ts';
import type { Cluster } from '@paddock/kube/connect';
import { SILENT_LOG } from '@paddock/testing/silent-log';

/** No sweep of these tests finds a pod to ask for. */
const noCluster: Cluster = {
  server: 'http://127.0.0.1:1',
  requestTimeoutMs: 1,
  send: () => Promise.reject(new Error('there is no cluster in this test')),
  close: () => undefined,
};

/** All sweeps of the reconciler on an emptied database and a simulated GitHub. */
async function startSweeps(database: TestDatabase) {
  await emptyTables(database.db, [
    'tasks',
    'operations',
    'task_counts',
    'schedules',
    'workers',
    'jobs',
  ]);
  const scene = await startRedeliveryScene(database, { losesRows: true });
  const { appId, privateKeyPem, github: simulator } = scene.world;
  const config = readConfig(database.url, simulator.url, appId, privateKeyPem);
  const db = database.dbOf('reconciler');
  const github = connectSmallWorld(scene.world, { waits: createWaits(db, () => undefined) });
  const metrics = createMetrics();
  const events = createEvents(SILENT_LOG, metrics);
  const kinds = sweepKinds({
    db,
    github,
    cluster: noCluster,
    config,
    events,
    isAway: githubIsAway(github),
    taskEvents: executorEvents(metrics, SILENT_LOG),
  });
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

/** With one App; the database is at `url`. */
function readConfig(url: string, apiUrl: string, id: number, key: string): ReconcilerConfig {
  const folder = mkdtempSync(join(tmpdir(), 'paddock-sweeps-'));
  const path = join(folder, 'paddock.yaml');
  writeFileSync(
    path,
    JSON.stringify({
      github: { apiUrl, apps: [{ id, privateKey: { env: 'KEY' } }] },
      pools: [],
      entities: {},
    }),
  );
  try {
    return readReconcilerConfig({ DATABASE_URL: url, PADDOCK_CONFIG: path, KEY: key });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
