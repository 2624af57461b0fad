import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import type { RealCluster } from '@paddock/testing/real-cluster';
import { startTunnel, type Tunnel } from '@paddock/testing/tunnel';
import { waitFor } from '@paddock/testing/wait-for';
import { describeReal, HASTY_MS } from '../scenes/real-cluster.scene.ts';
import { useEvidence } from '../scenes/use-scheduler-world.scene.ts';

const STATUS = {
  Pending: 'pending',
  Running: 'running',
  Succeeded: 'completed',
  Failed: 'failed',
  Unknown: 'running',
} as const;

interface V1Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: { readonly phase: keyof typeof STATUS };
}

let tunnel: Tunnel;
const behindTunnel = {
  between: async ({ url }: RealCluster) => {
    tunnel = await startTunnel(url);
    return tunnel.url;
  },
  clusterTimeoutMs: HASTY_MS,
};

describeReal('a real API server behind a bad network', behindTunnel, (world) => {
  const seen = useEvidence(world);
  let stopFollowing: () => Promise<void>;
  afterAll(() => tunnel.cut());
  beforeEach(() => {
    stopFollowing = world.follow({ watchSeconds: 3 });
  });
  afterEach(async () => {
    tunnel.breakAll();
    await stopFollowing();
  });

  const running = () => world.withStatus('running');
  const podsAsTheyAre = async () => {
    const { items } = (await world.admin('GET', '/api/v1/namespaces/runners/pods')) as {
      items: V1Pod[];
    };
    return items;
  };

  /** Ends every third pod well and every third badly, and deletes every seventh. */
  async function shake(names: readonly string[]): Promise<void> {
    for (const [index, name] of names.entries()) {
      if (index % 7 === 6) await world.admin('DELETE', `/api/v1/namespaces/runners/pods/${name}`);
      else if (index % 3 < 2)
        await world.annotate(name, {
          'test.paddock/end': index % 3 === 0 ? 'succeeded' : 'failed',
        });
    }
  }

  /** The status that each row with a pod should have, by the pods in the cluster. */
  async function expectRowsAsPods(): Promise<void> {
    await waitFor('each row to have the status of its pod', async () => {
      const pods = new Map((await podsAsTheyAre()).map((pod) => [pod.metadata.name, pod]));
      const rows = (await world.workers()).filter(({ pod_uid: uid }) => uid !== null);
      return rows.every((row) => {
        const pod = pods.get(row.pod_name);
        if (pod === undefined)
          return row.stopping_at !== null || row.status === 'completed' || row.status === 'failed';
        const { phase } = pod.status;
        const isEnded = phase === 'Succeeded' || phase === 'Failed';
        return (
          row.status === STATUS[phase] &&
          row.pod_uid === pod.metadata.uid &&
          row.running_at !== null &&
          (row.completed_at !== null) === isEnded
        );
      });
    });
  }

  /** No pod is there twice for a job, or without a row. */
  async function expectOnePodEach(jobs: number): Promise<void> {
    // A pod may run while the last call of its task was broken, and the task waits to make it
    // again.
    await waitFor('all that makes workers to end', async () => {
      await world.makeDue();
      await world.runTasks();
      return (await seen.tasks()).every(({ kind }) => kind !== 'provision-worker');
    });
    const rows = await world.workers();
    expect(rows.filter(({ pod_uid: uid }) => uid !== null)).toHaveLength(jobs);
    const names = new Set(rows.map(({ pod_name: name }) => name));
    expect((await podsAsTheyAre()).filter(({ metadata }) => !names.has(metadata.name))).toEqual([]);
  }

  test('all connections broken, time and again, while workers are made and end: each job has one pod (C6, C8, P1, P3)', async () => {
    let changes = '';
    let rounds = 0;
    const breakAtEachChange = async (): Promise<void> => {
      const now = JSON.stringify(
        (await podsAsTheyAre()).map(({ metadata, status }) => [metadata.name, status.phase]),
      );
      if (now !== changes) {
        tunnel.breakAll();
        rounds += 1;
      }
      changes = now;
    };
    for (const count of [4, 8, 12]) {
      await world.queueJobs(4);
      const allRun = async () => (await running()).length === count;
      const allRunThroughBreaks = () => breakAtEachChange().then(allRun);
      await Promise.all([
        world.drive('all to run', allRun),
        waitFor('all to run through breaks', allRunThroughBreaks),
      ]);
    }
    expect(rounds).toBeGreaterThan(2);
    await shake((await running()).map(({ pod_name: name }) => name));
    tunnel.breakAll();
    await expectRowsAsPods();
    await expectOnePodEach(12);
  });
});
