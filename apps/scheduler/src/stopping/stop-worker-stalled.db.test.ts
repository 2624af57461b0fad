import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connectGitHub } from '@paddock/github/connect';
import { connectCluster } from '@paddock/kube/connect';
import { runDueTasks } from '@paddock/queue/drain';
import { type HeldCall, startHoldingProxy } from '../provisioning/holding-proxy.scene.ts';
import { schedulerKinds } from '../kinds.ts';
import { APP_ID, type SchedulerWorld, startSchedulerWorld } from '../scheduler.scene.ts';
import { setStopScene, type StopScene } from './stop.scene.ts';

type Proxy = Awaited<ReturnType<typeof startHoldingProxy>>;

/** Far beyond any test: what ends a held call is its release. */
const requestTimeoutMs = 300_000;

let world: SchedulerWorld;
let scene: StopScene;
let atGitHub: Proxy;
let atCluster: Proxy;
beforeAll(async () => {
  world = await startSchedulerWorld();
  scene = await setStopScene(world);
  atGitHub = await startHoldingProxy(world.gitHub.url);
  atCluster = await startHoldingProxy(world.kube.url);
});
afterAll(async () => {
  await world.stop();
  await atGitHub.stop();
  await atCluster.stop();
});
beforeEach(() => world.reset());
afterEach(() => scene.cancelAll());

/** An executor whose calls go through the proxies. */
async function stalledRun(): Promise<unknown> {
  const github = connectGitHub({ apiUrl: atGitHub.url, apps: [{ appId: APP_ID, privateKey: world.privateKeyPem }], requestTimeoutMs });
  const cluster = connectCluster({ kubeconfigFile: world.kube.writeKubeconfig(), server: atCluster.url, requestTimeoutMs });
  try {
    return await runDueTasks({
      db: world.db,
      kinds: schedulerKinds({ ...world.parts, github, cluster }),
      holder: 'stalled',
      random: () => 0.5,
    });
  } finally {
    cluster.close();
  }
}

/** As if the lease of the first run were over: whoever comes next starts again from the top. */
const takeOver = async () => {
  await world.db
    .updateTable('tasks')
    .set({ locked_at: new Date(0) })
    .where('status', '=', 'running')
    .execute();
  await world.runTasks('successor');
};

const CALLS = [
  { what: 'looking for the pod', side: 'cluster', method: 'GET', path: '/pods/[^/]+$' },
  { what: 'looking for the runner', side: 'github', method: 'GET', path: '/actions/runners$' },
  { what: 'looking for its job', side: 'github', method: 'GET', path: '/runs/[^/]+/jobs$' },
  { what: 'reading its log', side: 'cluster', method: 'GET', path: '/log$' },
  { what: 'deregistering it', side: 'github', method: 'DELETE', path: '/actions/runners/[^/]+$' },
] as const;
const STEPS = CALLS.flatMap((call) => (['call', 'answer'] as const).map((at) => Object.assign({ at }, call)));

/** An idle worker whose proofs are all but complete, and a run of its stop that stands still at the call. */
async function stall({ side, ...call }: (typeof STEPS)[number]) {
  const podName = await scene.idleWorker();
  await scene.askToStop(podName);
  await world.runTasks();
  await scene.letTimePass();
  const held = (side === 'github' ? atGitHub : atCluster).hold(call satisfies HeldCall);
  const stalled = stalledRun();
  await Promise.race([held.reached, stalled.then(() => Promise.reject(new Error(`${call.method} ${call.path} was never called.`)))]);
  return {
    podName,
    async goOn() {
      held.release();
      await stalled;
    },
  };
}

describe('a run that stands still while its successor does everything, and then goes on (D6, P2)', () => {
  test.each(STEPS)('at the $at of $what: the worker ends once', async (step) => {
    const { podName, goOn } = await stall(step);
    await takeOver();
    await scene.letEnd(podName);
    const ended = await scene.row(podName);
    expect(ended.completed_at).not.toBeNull();
    await goOn();
    await world.makeDue();
    await world.runTasks();
    // The registration may be found gone once more; nothing else is written.
    expect(await scene.row(podName)).toMatchObject({
      status: ended.status,
      completed_at: ended.completed_at,
      stop_reason: ended.stop_reason,
    });
    expect(await world.db.selectFrom('tasks').selectAll().execute()).toEqual([]);
  });

  // GitHub itself refuses a deregistration that arrives late; one that was answered leaves nothing to give a job to.
  const before = STEPS.filter(({ method, at }) => method !== 'DELETE' || at === 'call');
  test.each(before)('at the $at of $what, and the runner gets a job meanwhile: it works on', async (step) => {
    const { podName, goOn } = await stall(step);
    const job = await world.gitHub.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 600_000 });
    await takeOver();
    expect(await scene.row(podName)).toMatchObject({ stopping_at: null, assigned_at: expect.any(Date) });
    await goOn();
    await scene.letEnd(podName);
    expect(await scene.row(podName)).toMatchObject({ status: 'running', stopping_at: null, registration_gone_at: null });
    await scene.expectWorking(podName, job.id);
  });
});
