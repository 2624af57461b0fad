import { expect, test } from '@jest/globals';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { reprovisionForgotten } from '../matching/match-loop.ts';

// Without a kubelet: pods stay Pending, so that the test can look at the remains.
const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

test.each([
  { status: 429, retryAfterSeconds: 0 },
  { status: 500 },
  { status: 503, afterCommit: true },
  { afterCommit: true },
])(
  'a Secret that cannot be put for a moment (%j) costs no registration (C6, P4)',
  async (fault) => {
    await world.queueJob();
    world.kube.failNext({ method: 'POST', path: '/secrets$', times: 2, ...fault });
    await world.settle();
    expect(await seen.failures()).toEqual([]);
    expect(await seen.runners()).toHaveLength(1);
    await seen.expectOneWorker();
  },
);

test.each([
  { what: 'does not answer', fault: { status: 500 } },
  {
    what: 'refuses it',
    fault: { status: 403, reason: 'Forbidden', message: 'exceeded quota: secrets' },
  },
  { what: 'cuts the connection', fault: {} },
])(
  'a Secret that cannot be put, for the cluster $what, ends the row in the same run, and the next is made (C6, P1)',
  async ({ fault }) => {
    await world.queueJob();
    await world.match();
    world.kube.failNext({ method: 'POST', path: '/secrets$', times: 100, ...fault });
    await world.runTasks();
    world.kube.clearFaults();
    const [lost] = await world.workers();
    expect(lost).toMatchObject({ status: 'failed', stop_reason: 'registration_interrupted' });
    expect(lost?.failure_info).toMatchObject({
      message: expect.stringContaining('POST /api/v1/namespaces/runners/secrets'),
    });
    await world.match();
    await world.runTasks();
    await seen.expectOneWorker();
    expect(await seen.registrations()).toHaveLength(2);
  },
);

test.each([
  {
    what: 'takes reads and refuses Secrets',
    fault: { method: 'POST', path: '/secrets$', status: 500 },
    alive: [{ registration_started_at: null }],
  },
  { what: 'goes away as a Secret is put', fault: { after: 2 }, alive: [] },
])(
  'a cluster that $what burns one registration, however long it lasts (C6, C11, P4)',
  async ({ fault, alive }) => {
    await world.queueJob();
    world.kube.failNext({ ...fault, times: 10_000 });
    await world.settle(20);
    expect(await seen.registrations()).toHaveLength(1);
    expect(await seen.failures()).toEqual(['registration_interrupted']);
    expect(await seen.alive()).toMatchObject(alive);
    world.kube.clearFaults();
    await world.settle();
    await seen.expectOneWorker();
    expect(await seen.registrations()).toHaveLength(2);
  },
);

test('a worker whose task is gone is provisioned again (P1)', async () => {
  await world.queueJob();
  await world.match();
  await world.db.deleteFrom('tasks').execute();
  expect(await reprovisionForgotten(world.db, 60_000)).toEqual([]);
  expect(await reprovisionForgotten(world.db, 0)).toHaveLength(1);
  expect(await reprovisionForgotten(world.db, 0)).toEqual([]);
  await world.settle();
  await seen.expectOneWorker();
});
