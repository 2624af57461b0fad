import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import { createWaits } from '@paddock/db/entities/waits';
import { findInstance } from '@paddock/db/instance';
import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { connectGitHub } from '@paddock/github/connect';
import { probeGitHub } from '@paddock/github/probe';
import { createRunnerGroups } from '@paddock/github/runner-groups';
import { deleteRunner } from '@paddock/github/runners';
import { type Cluster, connectCluster } from '@paddock/kube/connect';
import { deletePod, listPods } from '@paddock/kube/pods';
import { probeCluster } from '@paddock/kube/call';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { createMetrics } from '@paddock/runtime/metrics';
import { sharedAppKey, SILENT_LOG } from '@paddock/testing/stand-ins';
import { emptyTables } from '@paddock/testing/use-test-database';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { startGitHubSimulator } from '@paddock/simulators/github/start-github-simulator';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { impatientReaches, waitsOf } from './waits.scene.ts';
import { createTestDatabase } from '@paddock/testing/database';
import { examplePools, type GivenPools, putPools } from '@paddock/testing/demand-rows';
import { metricSum } from '@paddock/testing/metric-sum';
import { waitFor } from '@paddock/testing/wait-for';
import { createEvents } from '../events.ts';
import { followPods } from '../following/follow-pods.ts';
import { schedulerKinds } from '../kinds.ts';
import { createRecentRunJobs } from '../stopping/recent-run-jobs.ts';
import { type Matched, matchOnce } from '../matching/match.ts';
import { addEntity, queueJobOf } from './entities.scene.ts';
import { APP_ID, FOLLOWING, GATE, STOP_RULES } from './settings.scene.ts';

export const NAMESPACE = 'runners';
/** Far beyond the time of a call on a busy machine: a call that must fail ends by its fault. */
const REQUEST_TIMEOUT_MS = 60_000;

const RESET = [
  'tasks',
  'operations',
  'workers',
  'jobs',
  'demand_keys',
  'outages',
  'installation_events',
  'apps',
  'repositories',
  'pools_documents',
] as const;

/** How much a pass did. */
const countsOf = ({ reserved, ended, stopped, takenBack, lacking }: Matched) => ({
  reserved: reserved.length,
  ended: ended.length,
  stopped: stopped.length,
  takenBack: takenBack.length,
  lacking,
});

export type SchedulerWorld = Awaited<ReturnType<typeof startSchedulerWorld>>;

/**
 * Everything around the scheduler, for its tests: a database, a simulated GitHub and cluster, and
 * the scheduler's parts on them.
 */
export async function startSchedulerWorld({
  kubelet = true,
  playRunners = true,
  githubSeed = 1,
  realKubeconfig,
  clusterTimeoutMs = REQUEST_TIMEOUT_MS,
  stopRules = STOP_RULES,
}: {
  kubelet?: boolean;
  playRunners?: boolean;
  githubSeed?: number;
  /** Of a real cluster, instead of the simulated one; its namespaces are the caller's business. */
  realKubeconfig?: string;
  /** Longest time for a call of the cluster; shorter for tests with calls that get no answer. */
  clusterTimeoutMs?: number | undefined;
  stopRules?: typeof STOP_RULES;
} = {}) {
  const testDb = await createTestDatabase();
  const { db } = testDb;
  // The tested code has the scheduler's rights; the test's own statements may do anything.
  const own = testDb.dbOf('scheduler');
  const key = sharedAppKey();
  const app = { appId: APP_ID, publicKeyPem: key.publicKeyPem, webhookSecret: 'unused here' };
  const gitHub = await startGitHubSimulator({ seed: githubSeed, apps: [app] });
  const kube = await startKubeSimulator({
    namespaces: [NAMESPACE, 'others'],
    kubelet,
    playRunner: playRunners ? playRunner : undefined,
    startDelayMs: [1, 5],
  });
  const cluster = connectCluster({
    kubeconfigFile: realKubeconfig ?? kube.writeKubeconfig(),
    requestTimeoutMs: clusterTimeoutMs,
  });
  const metrics = createMetrics();
  const events = createEvents(SILENT_LOG, metrics);
  const github = connectGitHub({
    apiUrl: gitHub.url,
    apps: [{ appId: APP_ID, privateKey: key.privateKeyPem }],
    waits: createWaits(own, events.githubAsksToWait),
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const runnerGroups = createRunnerGroups({ lifetimeMs: 60_000 });
  const reach = impatientReaches(own, {
    github: (signal) => probeGitHub(github, signal),
    cluster: (signal) => probeCluster(cluster, signal),
  });
  let passedMs = 0;
  const now = () => performance.now() + passedMs;
  const recentRunJobs = createRecentRunJobs(now);
  const parts = {
    db: own,
    github,
    runnerGroups,
    cluster,
    reach,
    events,
    recentRunJobs,
    stopRules,
    failureRules: USUAL_FAILURE_RULES,
    unexplainedGraceMs: 60_000,
    maxRuns: 100,
  };
  const kinds = schedulerKinds(parts);
  const waits = waitsOf(db);
  const matchOnceMore = async () => {
    await reach.probeAgain();
    return matchOnce(own, GATE);
  };

  const workers = () =>
    db.selectFrom('workers').selectAll().orderBy('created_at').orderBy('pod_name').execute();
  const acme = await addEntity(gitHub, 'acme', ['api'], { runnerGroups: true });
  await putPools(db);
  const instance = await findInstance(db);
  /** A job of acme, unless given. */
  const queueJob = (given: Parameters<typeof queueJobOf>[2] = {}, entity = acme) =>
    queueJobOf({ db, gitHub }, entity, given);

  return {
    db,
    gitHub,
    kube,
    cluster,
    github,
    events,
    parts,
    kinds,
    installationId: acme.installationId,
    entityId: acme.id,
    apiRepositoryId: acme.repositories.get('api') ?? 0,
    databaseUrl: testDb.urlOf('scheduler'),
    privateKeyPem: key.privateKeyPem,
    pools: examplePools(),

    /** A process' own clock, and as if so much time had gone by on it. */
    now,
    passTime: (ms: number) => void (passedMs += ms),
    putPools: (given?: GivenPools) => putPools(db, given),
    queueJob,
    queueJobs: async (count: number, ...given: Parameters<typeof queueJob>) => {
      for (let n = 0; n < count; n += 1) await queueJob(...given);
    },
    addUser: (login: string, ...repositories: string[]) => addEntity(gitHub, login, repositories),
    match: async () => countsOf(await matchOnceMore()),
    /** The worker that is reserved for one more job. */
    async reserve() {
      await queueJob();
      await matchOnceMore();
      const worker = (await workers()).at(-1);
      if (worker === undefined) throw new Error('no worker was reserved');
      return worker;
    },
    /** Counts a failure against the worker's key, `times` times. */
    async fail(podName: string, failureClass: string, times = 1): Promise<void> {
      const failure = { podName, failureClass, message: 'it failed' };
      for (let n = 0; n < times; n += 1) await noteKeyFailure(own, failure, USUAL_FAILURE_RULES);
    },
    /** Why jobs wait, for each key with waiting jobs. */
    reasons: async () =>
      (await db.selectFrom('demand_keys').select('wait_reason').execute()).map(
        (row) => row.wait_reason,
      ),
    /** How often each call of GitHub and of the cluster was made. */
    calls: async (): Promise<Readonly<Record<string, number>>> => ({
      ...(await gitHub.report()).calls,
      ...kube.report().calls,
    }),
    /** Runs every task that is due, as one executor would. */
    runTasks: (holder = 'test', claimMs = 300_000) =>
      runDueTasks({ db: own, kinds, holder, claimMs, random: () => 0.5 }),
    ...waits,
    /** Matches and runs tasks, again and again as if all waits were over, until no work is left. */
    async settle(passes = 12): Promise<void> {
      for (let pass = 0; pass < passes; pass += 1) {
        await waits.endPauses();
        await waits.endWaits();
        await waits.endRefusedTimes();
        await matchOnceMore();
        await waits.makeDue();
        if ((await runDueTasks({ db: own, kinds, random: () => 0.5 })) === 0) return;
      }
    },
    async cancelAll(): Promise<void> {
      for (const { id, status } of (await gitHub.truth()).jobs)
        if (status !== 'completed') await gitHub.cancelJob(id);
      await waitFor('the jobs to end', async () =>
        (await gitHub.truth()).jobs.every(({ status }) => status === 'completed'),
      );
    },
    /** As an administrator of acme does. */
    async deleteRunner(podName: string) {
      const { runners } = await gitHub.truth();
      const id = runners.find(({ name }) => name === podName)?.id ?? 0;
      const client = github.asInstallation({
        appId: APP_ID,
        installationId: acme.installationId,
        entityId: acme.id,
      });
      await deleteRunner(client, { kind: 'organization', owner: 'acme' }, id);
    },
    /** By how much `act` raises a metric, over all labels except those in its name. */
    async growth(name: string, act: () => Promise<unknown>): Promise<number> {
      const before = metricSum(await metrics.registry.metrics(), name);
      await act();
      return metricSum(await metrics.registry.metrics(), name) - before;
    },
    workers,
    alive: async () =>
      (await workers()).filter(({ status }) => status === 'pending' || status === 'running'),
    /** Follows pods until the returned function is called. */
    follow(
      rules: Partial<typeof FOLLOWING> & { confirmAfterMs?: number } = {},
    ): () => Promise<void> {
      const stop = new AbortController();
      const following = {
        ...FOLLOWING,
        ...rules,
        failureRules: USUAL_FAILURE_RULES,
        db: own,
        cluster,
        reach,
        events,
      };
      const ended = followPods(following, stop.signal);
      return async () => {
        stop.abort();
        await ended;
      };
    },
    /**
     * Forgets jobs, workers and tasks, in the database, at GitHub and in the cluster's faults, and
     * the pods, which would be adopted.
     */
    async reset() {
      await gitHub.clearFaults();
      kube.clearFaults();
      await reach.probeAgain();
      kube.setQuota(null);
      await deletePods(cluster, instance);
      await emptyTables(db, RESET);
      await waits.forgetTold();
      await putPools(db);
    },
    async stop() {
      cluster.close();
      await kube.stop();
      await gitHub.stop();
      await testDb.drop();
    },
  };
}

async function deletePods(cluster: Cluster, instance: string): Promise<void> {
  for (const namespace of [NAMESPACE, 'others']) {
    const remaining = async () => (await listPods(cluster, { namespace, instance })).pods;
    const pods = await remaining();
    if (pods.length === 0) continue;
    for (const { name } of pods) await deletePod(cluster, { namespace, name });
    await waitFor('the pods to be gone', async () => (await remaining()).length === 0);
  }
}
