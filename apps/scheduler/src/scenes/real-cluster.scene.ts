import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import { listPods } from '@paddock/kube/pods';
import { connectAsAdmin } from '@paddock/testing/admin-api';
import { grantRights, kubeconfigOf } from '@paddock/testing/cluster-rights';
import { findAssets } from '@paddock/testing/played-nodes';
import { type RealCluster, startRealCluster } from '@paddock/testing/real-cluster';
import { late } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { NAMESPACE, startSchedulerWorld } from './scheduler.scene.ts';

/** Longest time for a call, for tests with calls that get no answer. */
export const HASTY_MS = 5_000;

interface RealWorldOptions {
  /** Without the node that KWOK simulates nothing schedules or runs pods. */
  readonly hasNode?: boolean;
  /** Puts something before the API server, and says where that is reached. */
  readonly between?: (real: RealCluster) => Promise<string>;
  readonly clusterTimeoutMs?: number;
}

/**
 * The scheduler's world on a real API server; GitHub stays simulated. It has the rights of
 * deploy/kubernetes and no more.
 */
async function startRealWorld(
  assets: string,
  { hasNode = true, between, clusterTimeoutMs }: RealWorldOptions,
) {
  const real = await startRealCluster(assets, hasNode ? { nodes: 1 } : {});
  const admin = await connectAsAdmin(real.kubeconfigFile);
  for (const name of [NAMESPACE, 'others'])
    await admin('POST', '/api/v1/namespaces', { metadata: { name } });
  await grantRights(admin, [NAMESPACE, 'others']);
  const realKubeconfig = await kubeconfigOf(admin, 'scheduler', real.kubeconfigFile);
  const address = await between?.(real);
  if (address !== undefined) {
    const text = await readFile(realKubeconfig, 'utf8');
    // The certificate is for no other address.
    const there = `"server":${JSON.stringify(address)},"tls-server-name":"kubernetes"`;
    await writeFile(realKubeconfig, text.replace(`"server":"${real.url}"`, there));
  }
  const world = await startSchedulerWorld({ playRunners: false, realKubeconfig, clusterTimeoutMs });
  const instance = await findInstance(world.db);
  return {
    ...world,
    real,
    admin,
    /** Of the scheduler's service account. */
    kubeconfigFile: realKubeconfig,
    /** All pods of this world in the cluster. */
    pods: async () => (await listPods(world.cluster, { namespace: NAMESPACE, instance })).pods,
    /** Changes a pod's annotations, which decide its fate. */
    annotate: (podName: string, annotations: Record<string, string | null>) =>
      admin('PATCH', `/api/v1/namespaces/${NAMESPACE}/pods/${podName}`, {
        metadata: { annotations },
      }),
    /** Matches and runs due tasks, as if all waits were over, until `isDone` says so. */
    drive: (what: string, isDone: () => Promise<boolean>) =>
      waitFor(what, async () => {
        await world.settle(1);
        return isDone();
      }),
    withStatus: async (status: string) =>
      (await world.workers()).filter((worker) => worker.status === status),
    row: async (podName: string) =>
      (await world.workers()).find((worker) => worker.pod_name === podName),
    async stop() {
      await world.stop();
      await real.stop();
    },
  };
}

export type RealWorld = Awaited<ReturnType<typeof startRealWorld>>;

/** Tests that share one such world: each begins with it reset. */
export function describeReal(
  title: string,
  options: RealWorldOptions,
  tests: (world: RealWorld) => void,
): void {
  const hasNode = options.hasNode ?? true;
  const assets = findAssets(hasNode);
  const described = assets === undefined ? describe.skip : describe;
  described(`${title} (needs KUBEBUILDER_ASSETS${hasNode ? ' with kwok' : ''})`, () => {
    let world: RealWorld;
    beforeAll(async () => {
      world = await startRealWorld(assets ?? '', options);
    });
    afterAll(() => world.stop());
    beforeEach(() => world.reset());
    tests(late(() => world));
  });
}
