import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Task } from '@paddock/queue/task';
import { look, type Seen } from './evidence.scene.ts';
import { type SchedulerWorld, startSchedulerWorld } from '../scheduler.scene.ts';

let world: SchedulerWorld;
let seen: Seen;
beforeAll(async () => {
  world = await startSchedulerWorld({ kubelet: false });
});
afterAll(() => world.stop());

const taskFor = (podName: string, leaseLeft: () => number): Task => ({
  id: 'a task',
  kind: 'provision-worker',
  subject: { type: 'worker', id: podName, name: null },
  payload: {},
  attempt: 1,
  maxAttempts: 5,
  crashes: 0,
  deliveryGuid: null,
  fence: 1,
  leaseLeft,
});

test.each([1, 2, 3, 4])(
  'a run that stands still before its check number %i registers nobody, and leaves the row to its successor (C6, P3)',
  async (nth) => {
    await world.reset();
    seen = await look(world);
    await world.queueJob();
    await world.match();
    const [worker] = await world.workers();
    let checks = 0;
    const task = taskFor(worker?.pod_name ?? '', () => (++checks < nth ? 1 : 0));
    await Promise.allSettled([world.kinds['provision-worker']?.handler(task, new AbortController().signal)]);
    expect(checks).toBe(nth);
    expect(await seen.runners()).toEqual([]);
    expect(await seen.alive()).toMatchObject([{ registration_started_at: null }]);
    await world.settle();
    await seen.expectOneWorker();
  },
);
