import { expect, test } from '@jest/globals';
import { createReaches } from '@paddock/db/outages';
import { diagnoseTask, removeSecretTask } from '@paddock/domain/tasks/worker-tasks';
import { probeCluster } from '@paddock/kube/call';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { enqueueAlone } from '@paddock/queue/enqueue';
import type { Logger } from '@paddock/runtime/logger';
import { createMetrics } from '@paddock/runtime/metrics';
import { waitFor } from '@paddock/testing/wait-for';
import { createEvents } from './events.ts';
import { followPods } from './following/follow-pods.ts';
import { schedulerKinds } from './kinds.ts';
import { useSchedulerWorld } from './scenes/use-scheduler-world.scene.ts';
import { FOLLOWING } from './scenes/settings.scene.ts';

const world = useSchedulerWorld({ playRunners: false });

test('an API server that is away is one line, however many pods wait for it and however often; no task fails (P5, P6)', async () => {
  // The scheduler's parts with a log that keeps what a service shows.
  const lines: string[] = [];
  const say = (message: string) => void lines.push(message);
  const log = { error: say, warn: say, info: say, debug: () => undefined } as unknown as Logger;
  const metrics = createMetrics();
  const { db, cluster } = world.parts;
  const probes = {
    github: () => Promise.resolve(undefined),
    cluster: (signal: AbortSignal) => probeCluster(cluster, signal),
  };
  const reach = createReaches({ db, log, metrics, probes, onBack: () => undefined });
  const events = createEvents(log, metrics);
  const parts = { ...world.parts, ...FOLLOWING, reach, events };
  const kinds = schedulerKinds(parts);

  await world.queueJobs(10);
  await world.match();
  world.kube.failNext({ status: 503, times: 10_000 });
  const stop = new AbortController();
  const followed = followPods(parts, stop.signal);
  try {
    for (let pass = 0; pass < 3; pass += 1) {
      await world.makeDue();
      await runDueTasks({ db, kinds, holder: 'away', random: () => 0.5 });
    }
    await waitFor('the watch to fail', () => lines.some((line) => line.includes('is away')));
  } finally {
    stop.abort();
    await followed;
  }
  expect(
    lines.filter((line) =>
      /API server|did not start a worker|interrupted|could not be stopped/.test(line),
    ),
  ).toEqual(['the API server is away: tasks that need it wait']);
  expect(await metrics.registry.metrics()).toContain('paddock_service_away{service="cluster"} 1\n');
  const failed = world.db.selectFrom('operations').selectAll().where('status', '=', 'ERROR');
  expect(await failed.execute()).toEqual([]);
});

test.each([
  ['a node that does not answer keeps a pod’s log', diagnoseTask, { path: '/log$', status: 500 }],
  [
    'a webhook keeps a Secret',
    removeSecretTask,
    { method: 'DELETE', path: '/secrets/', status: 504, reason: 'Timeout' },
  ],
])('%s: only its task waits, and the cluster is not away (C11)', async (_what, taskOf, fault) => {
  const { pod_name: podName } = await world.reserve();
  await world.runTasks();
  const ended = { status: 'completed', completed_at: new Date() } as const;
  await world.db.updateTable('workers').set(ended).execute();
  await enqueueAlone(world.db, [taskOf(podName)]);
  world.kube.failNext({ ...fault, times: 10_000 });
  for (let pass = 0; pass < 4; pass += 1) {
    await world.makeDue();
    await world.runTasks();
  }
  expect([await world.failing(), await world.outages()]).toEqual([[], []]);
  const [task] = await world.db.selectFrom('tasks').selectAll().execute();
  expect(task).toMatchObject({ status: 'queued', attempt: 0 });
  expect((task?.due_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(10_000);
});
