import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { createEvents } from '../events.ts';
import { schedulerKinds } from '../kinds.ts';
import { SILENT_LOG } from '@paddock/testing/silent-log';
import { type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';

let world: SchedulerWorld;
beforeAll(async () => {
  world = await startSchedulerWorld({ kubelet: false });
});
afterAll(() => world.stop());

test('a warning of the cluster is logged once for a pool, and the pod is made (H1, H3)', async () => {
  const warn = jest.fn((..._line: unknown[]) => SILENT_LOG);
  const events = createEvents({ ...SILENT_LOG, warn }, createMetrics());
  const kinds = schedulerKinds({ ...world.parts, events });
  const warning = 'unknown field "spec.nodeSelctor"';
  world.kube.failNext({ method: 'POST', path: '/pods$', warning, times: 2 });
  for (let job = 0; job < 3; job += 1) await world.queueJob();
  await world.match();
  await runDueTasks({ db: world.db, kinds, random: () => 0.5 });
  expect(await world.workers()).toMatchObject(
    Array.from({ length: 3 }, () => ({ pod_uid: expect.any(String) })),
  );
  expect(warn.mock.calls).toEqual([
    [
      expect.stringContaining('template'),
      expect.objectContaining({ pool: 'linux', warnings: [warning] }),
    ],
  ]);
});
