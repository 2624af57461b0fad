import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { taskFor } from '../scenes/provisioning-task.scene.ts';
import { look, type Seen } from '../scenes/evidence.scene.ts';
import { type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';
import { type StalledRuns, startStalledRuns } from '../scenes/stalled-run.scene.ts';

let world: SchedulerWorld;
let seen: Seen;
let runs: StalledRuns;
beforeAll(async () => {
  // Without a kubelet: a worker stays pending, so that its row lets a second run go on as far as
  // its mark does.
  world = await startSchedulerWorld({ kubelet: false });
  runs = await startStalledRuns(world);
});
afterAll(async () => {
  await world.stop();
  await runs.stop();
});
beforeEach(async () => {
  await world.reset();
  seen = await look(world);
  await world.queueJob();
  await world.match();
});

const JIT = 'actions/generate-runner-jitconfig-for-org';
/** Minting a token makes nothing, and a run may have one already. */
const TOKEN = 'apps/create-installation-access-token';
const calls = async (): Promise<Record<string, number>> => ({
  ...(await world.gitHub.report()).calls,
  ...world.kube.report().calls,
});

const LOOKED = ['get pods', 'get secrets'];
const nothing = () => undefined;
const somethingFailed = async () => {
  const podName = (await world.workers())[0]?.pod_name ?? '';
  const failure = { podName, failureClass: 'pod_refused', message: 'refused once' };
  await noteKeyFailure(world.db, failure, world.parts.failureRules);
};
const secretRefused = () => world.kube.failNext({ method: 'POST', path: '/secrets$', status: 500 });
const registrationRefused = () =>
  world.gitHub.failNext({ path: '/generate-jitconfig$', status: 404 });

test.each<[string, number, readonly string[], () => unknown]>([
  ['the cluster for the pod', 1, [], nothing],
  ['the cluster for a dry run', 2, LOOKED, somethingFailed],
  ['GitHub for anything', 2, LOOKED, nothing],
  ['PostgreSQL to mark the registration', 3, LOOKED, nothing],
  ['GitHub for the registration', 4, LOOKED, nothing],
  ['GitHub for the installation that was refused', 5, [...LOOKED, JIT], registrationRefused],
  ['the cluster for the Secret', 5, [...LOOKED, JIT], nothing],
  ['the cluster for the Secret once more', 6, [...LOOKED, JIT, 'create secrets'], secretRefused],
  ['the cluster for the pod', 6, [...LOOKED, JIT, 'create secrets'], nothing],
  [
    'the cluster for the Secret’s owner',
    7,
    [...LOOKED, JIT, 'create secrets', 'create pods'],
    nothing,
  ],
])(
  'a run that stops before it asks %s makes no more calls, and its successor makes the worker (C6, P3)',
  async (_whom, nth, asked, arrange) => {
    await arrange();
    const [worker] = await world.workers();
    const before = await calls();
    let looks = 0;
    const task = taskFor(worker?.pod_name ?? '', () => (++looks < nth ? 1 : 0));
    await Promise.allSettled([
      world.kinds['provision-worker']?.handler(task, new AbortController().signal),
    ]);
    const made = Object.entries(await calls()).flatMap(([call, count]) =>
      call === TOKEN ? [] : Array.from({ length: count - (before[call] ?? 0) }, () => call),
    );
    expect([looks, made.toSorted()]).toEqual([nth, asked.toSorted()]);
    await world.settle();
    await seen.expectOneWorker();
  },
);

const FOUND_NOTHING = {
  side: 'cluster',
  method: 'GET',
  path: '/secrets/[^/]+$',
  at: 'answer',
} as const;

test('a run that has begun registers no runner once its worker is to be stopped (C3)', async () => {
  const goOn = await runs.stallAt(FOUND_NOTHING);
  await world.db
    .updateTable('workers')
    .set({ stopping_at: new Date(), stop_reason: 'surplus' })
    .execute();
  await goOn();
  expect(await seen.registrations()).toEqual([]);
});

test('a run that found no registration asks for none once its successor has (C6, P3)', async () => {
  const before = (await calls())[JIT] ?? 0;
  const goOn = await runs.stallAt(FOUND_NOTHING);
  await runs.takeOver();
  await goOn();
  await world.settle();
  expect((await calls())[JIT]).toBe(before + 1);
  expect(await seen.failures()).toEqual([]);
  await seen.expectOneWorker();
});
