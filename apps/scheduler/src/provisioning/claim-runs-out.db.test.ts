import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { connectDatabase } from '@paddock/db/connection/connect';
import { TEST_SCHEMA } from '@paddock/testing/database';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { CALLS, taskFor } from '../scenes/stalled-run.scene.ts';
import {
  useEvidence,
  useSchedulerWorld,
  useStalledRuns,
} from '../scenes/use-scheduler-world.scene.ts';

// Without a kubelet: a worker stays pending, so that its row lets a second run go on as far as its
// mark does.
const world = useSchedulerWorld({ kubelet: false });
const runs = useStalledRuns(world);
const seen = useEvidence(world);
let tunnel: Tunnel;
beforeAll(async () => {
  tunnel = await startTunnel(world.databaseUrl);
});
afterAll(() => tunnel.cut());
let podName: string;
beforeEach(async () => {
  ({ pod_name: podName } = await world.reserve());
});

const JIT = 'actions/generate-runner-jitconfig-for-org';
/** Minting a token makes nothing, and a run may have one already. */
const TOKEN = 'apps/create-installation-access-token';

const LOOKED = ['get pods', 'get secrets'];
const MADE = [...LOOKED, JIT, 'create secrets'];
const nothing = () => undefined;
const somethingFailed = () => world.fail(podName, 'pod_refused');
const secretRefused = () => world.kube.failNext({ method: 'POST', path: '/secrets$', status: 500 });

test.each<[string, number, readonly string[], () => unknown]>([
  ['the cluster for the pod', 1, [], nothing],
  ['the cluster for a dry run', 2, LOOKED, somethingFailed],
  ['GitHub for anything', 2, LOOKED, nothing],
  ['PostgreSQL to mark the registration', 3, LOOKED, nothing],
  ['GitHub for the registration', 4, LOOKED, nothing],
  ['the cluster for the Secret', 5, [...LOOKED, JIT], nothing],
  ['the cluster for the Secret once more', 7, MADE, secretRefused],
  ['the cluster for the pod', 6, MADE, nothing],
  ['the cluster for the Secret’s owner', 7, [...MADE, 'create pods'], nothing],
])(
  'a run that stops before it asks %s makes no more calls, and its successor makes the worker (C6, P3)',
  async (_whom, nth, asked, arrange) => {
    await arrange();
    const before = await world.calls();
    let looks = 0;
    const task = taskFor(podName, () => (++looks < nth ? 1 : 0));
    await Promise.allSettled([
      world.kinds['provision-worker']?.handler(task, new AbortController().signal),
    ]);
    const made = Object.entries(await world.calls()).flatMap(([call, count]) =>
      call === TOKEN ? [] : Array.from({ length: count - (before[call] ?? 0) }, () => call),
    );
    expect([looks, made.toSorted()]).toEqual([nth, asked.toSorted()]);
    await world.settle();
    await seen.expectOneWorker();
  },
);

const [, LOOK_FOR_SECRET, REGISTRATION] = CALLS;
const FOUND_NOTHING = { ...LOOK_FOR_SECRET, at: 'answer' } as const;

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
  const before = (await world.calls())[JIT] ?? 0;
  const goOn = await runs.stallAt(FOUND_NOTHING);
  await runs.takeOver();
  await goOn();
  await world.settle();
  expect((await world.calls())[JIT]).toBe(before + 1);
  expect(await seen.failures()).toEqual([]);
  await seen.expectOneWorker();
});

/** Starts the only worker's run on a database that can be cut off. */
function startRun(claimLeft: () => number, beforeGitHub?: (resource: string) => Promise<void>) {
  const { db, close } = connectDatabase({
    url: tunnel.url,
    schema: TEST_SCHEMA,
    poolSize: 2,
    applicationName: 'paddock-test',
  });
  const executor = runs.connect(db, beforeGitHub);
  const task = taskFor(podName, claimLeft);
  const interruption = new AbortController();
  const run = executor.kinds['provision-worker']?.handler(task, interruption.signal);
  return {
    interrupt: () => interruption.abort(),
    outcome: Promise.allSettled([run]).then(([settled]) => settled),
    stop: async () => {
      executor.close();
      await close();
    },
  };
}

test.each([
  ['is made late', nothing],
  ['may have been made late', secretRefused],
])(
  'a run that stood still while its row ended, and whose Secret %s, leaves none (C6, P3)',
  async (_how, arrange) => {
    arrange();
    const held = runs.hold({ side: 'cluster', method: 'POST', path: '/secrets$', at: 'call' });
    let left = 1;
    const { outcome, stop, interrupt } = startRun(() => left);
    await held.reached;
    await world.runTasks('successor');
    expect(await seen.failures()).toEqual(['registration_interrupted']);
    const deletions = async () => (await world.calls())['delete secrets'];
    const before = (await deletions()) ?? 0;
    left = 0;
    interrupt();
    held.release();
    await outcome;
    await stop();
    expect(await deletions()).toBe(before + 1);
    expect(seen.secrets()).not.toContain(`runners/${podName}`);
  },
);

test.each(CALLS.filter(({ method }) => method === 'POST'))(
  'PostgreSQL that goes away after $what is waited for: its one registration runs the job (C6, P1)',
  async (call) => {
    const held = runs.hold({ ...call, at: 'answer' });
    let looks = 0;
    const { outcome, stop } = startRun(() => {
      looks += 1;
      return 1;
    });
    await held.reached;
    await tunnel.cut();
    const looksBefore = looks;
    held.release();
    // Each failed statement looks at the lease; the Secret's creation does so once besides.
    await waitFor('statements to fail', () => looks >= looksBefore + 3);
    await tunnel.mend();
    expect(await outcome).toMatchObject({ status: 'fulfilled', value: { outcome: 'done' } });
    await stop();
    expect(await seen.registrations()).toHaveLength(1);
    expect(await seen.failures()).toEqual([]);
    await world.db.deleteFrom('tasks').execute();
    await seen.expectOneWorker();
    expect(await world.alive()).toMatchObject([{ registered_labels: ['linux', 'self-hosted'] }]);
  },
);

test('PostgreSQL that stays away is waited for no longer than the lease allows (C6, D6)', async () => {
  const held = runs.hold({ ...REGISTRATION, at: 'answer' });
  let left = 1;
  const { outcome, stop } = startRun(() => left);
  await held.reached;
  await tunnel.cut();
  held.release();
  left = 0.3;
  expect(await outcome).toMatchObject({ status: 'rejected' });
  await tunnel.mend();
  await stop();
  expect(seen.secrets()).toEqual([]);
  await world.settle();
  expect(await seen.failures()).toEqual(['registration_interrupted']);
  await seen.expectOneWorker();
});

test('PostgreSQL that goes away between the mark and the registration costs no registration and no row (C6, P1)', async () => {
  const { outcome, stop } = startRun(
    () => 1,
    (resource) =>
      resource === 'actions_runner_registration'
        ? Promise.reject(new Error('the connection was closed'))
        : Promise.resolve(),
  );
  expect(await outcome).toMatchObject({ status: 'fulfilled', value: { outcome: 'snooze' } });
  await stop();
  expect(await seen.registrations()).toEqual([]);
  await world.settle();
  expect(await seen.failures()).toEqual([]);
  await seen.expectOneWorker();
});
