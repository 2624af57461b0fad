import { expect } from '@jest/globals';
import { requestStops } from '@paddock/db/workers/worker-stops';
import type { StopReason } from '@paddock/domain/workers/stop-reasons';
import { stopTask } from '@paddock/domain/tasks/worker-tasks';
import { callJson, objectPath } from '@paddock/kube/call';
import { readJobInLog } from '@paddock/kube/runner-log';
import { JIT_CONFIG_KEY } from '@paddock/kube/secrets';
import { enqueue } from '@paddock/queue/enqueue';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { followedPods } from './followed-pods.scene.ts';
import { NAMESPACE, type SchedulerWorld } from './scheduler.scene.ts';
import type { FOLLOWING } from './settings.scene.ts';

/** The acts and checks of tests about the ends of workers. */
export async function setStopScene(world: SchedulerWorld, rules: Partial<typeof FOLLOWING> = {}) {
  const { db, gitHub, cluster } = world;
  const pods = await followedPods(world, rules);
  const { row, find: pod, relist: follow } = pods;
  const runner = async (podName: string) =>
    (await gitHub.truth()).runners.find(({ name }) => name === podName);
  const isCalled = (podName: string, state: string) =>
    waitFor(`GitHub to call it ${state}`, async () => (await runner(podName))?.state === state);

  /** Makes the worker of one more waiting job, whose pod is there. */
  const makeWorker = async (queue = () => world.queueJob()): Promise<string> => {
    const jobId = await queue();
    await world.match();
    await world.runTasks();
    const { pod_name: podName } = await db
      .selectFrom('workers')
      .select('pod_name')
      .where('made_for_job_id', '=', jobId)
      .executeTakeFirstOrThrow();
    return podName;
  };

  /**
   * As if this much time had passed since every instant of the row, and since GitHub refused an
   * entity.
   */
  const letTimePass = async (minutes = 1): Promise<void> => {
    const earlier = (column: string) =>
      sql<Date>`${sql.ref(column)} - ${minutes} * interval '1 minute'`;
    const columns = [
      'idle_since',
      'offline_since',
      'registration_gone_at',
      'deregistration_started_at',
      'stopping_at',
      'pod_gone_at',
    ] as const;
    await db
      .updateTable('workers')
      .set(Object.fromEntries(columns.map((column) => [column, earlier(column)])))
      .where('status', 'in', ['pending', 'running'])
      .execute();
    await db
      .updateTable('installation_events')
      .set({ received_at: earlier('received_at') })
      .where('event', 'like', 'auth_attempt%')
      .execute();
    await world.passRefused(minutes);
    world.passTime(minutes * 60_000);
    await world.makeDue();
  };

  const askToStop = (podName: string, reason: StopReason = 'idle') =>
    db.transaction().execute(async (trx) => {
      await requestStops(trx, [{ podName, reason }]);
      await enqueue(trx, [stopTask({ podName, deliveryGuid: null })]);
    });
  /**
   * Runs due tasks, again and again as if all waits were over, until the worker has ended or no
   * work is left. Returns its row.
   */
  const letEnd = async (podName: string, { attempts = 12, minutes = 1 } = {}) => {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      await world.runTasks();
      await follow();
      const { completed_at, stopping_at } = await row(podName);
      if (completed_at !== null || stopping_at === null) break;
      await letTimePass(minutes);
    }
    return row(podName);
  };

  return {
    ...pods,
    pod,
    runner,
    follow,
    isCalled,
    makeWorker,
    letTimePass,
    askToStop,
    letEnd,
    /** `letEnd` until the worker has ended. */
    finish: (podName: string) =>
      waitFor('its row to end', async () => {
        const ended = await letEnd(podName);
        return ended.completed_at !== null && ended;
      }),
    stop: async (podName: string, reason?: StopReason, limits?: Parameters<typeof letEnd>[1]) => {
      await askToStop(podName, reason);
      return letEnd(podName, limits);
    },
    /** A worker whose runner never came online, and whose pod is in the given state. */
    async startUnregistered(phase: 'Running' | 'Pending' = 'Running'): Promise<string> {
      const podName = await makeWorker();
      await waitFor(`the pod to be ${phase}`, async () => (await pod(podName))?.phase === phase);
      await follow();
      return podName;
    },
    /**
     * Connects the worker's runner from outside of its pod, as if its node were cut off from the
     * cluster and not from GitHub.
     */
    async connectRunner(podName: string): Promise<() => Promise<unknown>> {
      const stop = new AbortController();
      const path = objectPath(NAMESPACE, 'secrets', podName);
      const secret = await callJson(cluster, { method: 'GET', path });
      const encoded = (secret as { data: Record<string, string> }).data[JIT_CONFIG_KEY] ?? '';
      const ended = playRunner(Buffer.from(encoded, 'base64').toString(), stop.signal);
      await isCalled(podName, 'idle');
      return async () => {
        stop.abort();
        return ended;
      };
    },
    /** A worker whose job was cancelled before its runner came; no delivery has said so. */
    async idleWorker(): Promise<string> {
      const podName = await makeWorker(async () => {
        const jobId = await world.queueJob();
        await gitHub.cancelJob(jobId);
        return jobId;
      });
      await isCalled(podName, 'idle');
      await follow();
      return podName;
    },
    /**
     * A worker whose runner has a job that lasts until it is cancelled; no delivery has said so.
     * GitHub calls a runner busy before the runner has read of it: until its log shows the job, no
     * evidence could prove it.
     */
    async busyWorker(): Promise<{ podName: string; jobId: number }> {
      let jobId = 0;
      const podName = await makeWorker(
        async () => (jobId = await world.queueJob({ durationMs: 600_000 })),
      );
      await isCalled(podName, 'busy');
      const place = { namespace: NAMESPACE, name: podName };
      await waitFor(
        'its log to show the job',
        async () =>
          (await readJobInLog(cluster, place, AbortSignal.timeout(60_000))) === 'job_begun',
      );
      await follow();
      return { podName, jobId };
    },
    /** The job, its runner and its pod are untouched. */
    async expectWorking(podName: string, jobId: number): Promise<void> {
      const job = (await gitHub.truth()).jobs.find(({ id }) => id === jobId);
      expect(job).toMatchObject({ status: 'in_progress', killed: false });
      expect(await runner(podName)).toMatchObject({ state: 'busy' });
      expect(await pod(podName)).toMatchObject({ phase: 'Running', deletionTimestamp: undefined });
    },
  };
}
