import { createWaits } from '@paddock/db/entities/waits';
import { connectGitHub } from '@paddock/github/connect';
import { createRunnerGroups } from '@paddock/github/runner-groups';
import { connectCluster } from '@paddock/kube/connect';
import type { Task } from '@paddock/queue/kind';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { schedulerKinds } from '../kinds.ts';
import { type HeldCall, startHoldingProxy } from './proxies.scene.ts';
import { type SchedulerWorld } from './scheduler.scene.ts';
import { APP_ID } from './settings.scene.ts';
import { createRecentRunJobs } from '../stopping/recent-run-jobs.ts';

/** Far beyond any test: only its release ends a held call. */
const requestTimeoutMs = 300_000;

/** A call at which a run stops. */
export interface StalledCall extends HeldCall {
  readonly side: 'github' | 'cluster';
}

/** Stops one executor at one of its calls, while another takes its tasks over. */
export async function startStalledRuns(world: SchedulerWorld) {
  const proxies = {
    github: await startHoldingProxy(world.gitHub.url),
    cluster: await startHoldingProxy(world.kube.url),
  };

  /**
   * The kinds of an executor whose calls go through the proxies, with nothing cached: each of its
   * calls can be stopped. `beforeGitHub` runs before each call of GitHub.
   */
  function connect(
    db = world.parts.db,
    beforeGitHub: (resource: string) => Promise<void> = () => Promise.resolve(),
  ) {
    const waits = createWaits(db, () => undefined);
    const github = connectGitHub({
      apiUrl: proxies.github.url,
      apps: [{ appId: APP_ID, privateKey: world.privateKeyPem }],
      waits: {
        ...waits,
        left: (caller, resource) => beforeGitHub(resource).then(() => waits.left(caller, resource)),
      },
      requestTimeoutMs,
    });
    const cluster = connectCluster({
      kubeconfigFile: world.kube.writeKubeconfig(proxies.cluster.url),
      requestTimeoutMs,
    });
    const remembered = {
      runnerGroups: createRunnerGroups({ lifetimeMs: 0 }),
      recentRunJobs: createRecentRunJobs(world.now),
    };
    const kinds = schedulerKinds({ ...world.parts, db, github, cluster, ...remembered });
    return { kinds, close: () => cluster.close() };
  }

  async function run(): Promise<unknown> {
    const { kinds, close } = connect();
    return runDueTasks({ db: world.db, kinds, holder: 'stalled', random: () => 0.5 }).finally(
      close,
    );
  }

  const hold = ({ side, ...call }: StalledCall) => proxies[side].hold(call);
  let last: Promise<unknown> = Promise.resolve();

  return {
    connect,
    hold,
    /**
     * Runs due tasks up to the call. Returns a function that lets the run continue, and waits for
     * its end.
     */
    async stallAt(call: StalledCall): Promise<() => Promise<void>> {
      const held = hold(call);
      const stalled = run();
      last = stalled;
      const missed = stalled.then(() =>
        Promise.reject(new Error(`${call.method} ${call.path} was never called.`)),
      );
      await Promise.race([held.reached, missed]);
      return async () => {
        held.release();
        await stalled;
      };
    },
    /**
     * As if the claim of the stalled run were over: the next executor starts again from the top.
     */
    async takeOver(): Promise<void> {
      await world.db
        .updateTable('tasks')
        .set({ locked_until: new Date(0) })
        .where('status', '=', 'running')
        .execute();
      await world.runTasks('successor');
    },
    /** A call that is still held is broken off, and its run ends with that. */
    async stop(): Promise<void> {
      await proxies.github.stop();
      await proxies.cluster.stop();
      await Promise.allSettled([last]);
    },
  };
}

/**
 * The calls that make a worker. Without the minting of a token: it changes nothing, and all callers
 * in one process wait for one token.
 */
export const CALLS = [
  { what: 'looking for the pod', side: 'cluster', method: 'GET', path: '/pods/[^/]+$' },
  { what: 'looking for the Secret', side: 'cluster', method: 'GET', path: '/secrets/[^/]+$' },
  { what: 'asking for the JIT config', side: 'github', method: 'POST', path: '-jitconfig$' },
  { what: 'creating the Secret', side: 'cluster', method: 'POST', path: '/secrets$' },
  { what: 'creating the pod', side: 'cluster', method: 'POST', path: '/pods$' },
  { what: 'setting the Secret’s owner', side: 'cluster', method: 'PATCH', path: '/secrets/[^/]+$' },
] as const;

/** Each call twice: stopped on its way, and its answer on the way back. */
export const bothEnds = <T extends object>(calls: readonly T[]) =>
  calls.flatMap((call) => (['call', 'answer'] as const).map((at) => Object.assign({ at }, call)));

/**
 * A run of the task that makes this worker. `claimLeft` gives the rest of its claim, from 0 to 1.
 */
export const taskFor = (podName: string, claimLeft: () => number): Task => ({
  id: 'a task',
  kind: 'provision-worker',
  subject: { type: 'worker', id: podName, name: null },
  payload: {},
  attempt: 1,
  maxAttempts: 5,
  crashes: 0,
  deliveryGuid: null,
  fence: 1,
  claimLeft,
});
