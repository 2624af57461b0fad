import { readFile, writeFile } from 'node:fs/promises';
import { findInstance } from '@paddock/db/instance';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { listPods } from '@paddock/kube/pods';
import { type AdminApi, connectAsAdmin } from '@paddock/testing/admin-api';
import { grantRights, kubeconfigOf } from '@paddock/testing/cluster-rights';
import {
  type RealCluster,
  type RealClusterOptions,
  startRealCluster,
} from '@paddock/testing/real-cluster';
import { waitFor } from '@paddock/testing/wait-for';
import { NAMESPACE, type SchedulerWorld, startSchedulerWorld } from './scheduler.scene.ts';

export interface RealWorld extends SchedulerWorld {
  readonly real: RealCluster;
  readonly admin: AdminApi;
  /** With the scheduler's rights. */
  readonly kubeconfigFile: string;
  /** All pods of this world in the cluster. */
  pods(): Promise<ObservedPod[]>;
  /** Changes a pod's annotations, which decide its fate. */
  annotate(podName: string, annotations: Record<string, string>): Promise<unknown>;
  /** Matches and runs due tasks, as if all waits were over, until `isDone` says so. */
  drive(what: string, isDone: () => Promise<boolean>): Promise<void>;
}

/** Longest time for a call, for tests with calls that get no answer. */
export const HASTY_MS = 5_000;

interface RealWorldOptions {
  /** Puts something before the API server, and says where that is reached. */
  readonly between?: (real: RealCluster) => Promise<string>;
  readonly clusterTimeoutMs?: number;
}

/**
 * The scheduler's world on a real API server, by default with nodes that KWOK simulates;
 * GitHub stays simulated. It has the rights of deploy/kubernetes and no more.
 */
export async function startRealWorld(
  assets: string,
  options: RealClusterOptions = { nodes: 1 },
  { between, clusterTimeoutMs }: RealWorldOptions = {},
): Promise<RealWorld> {
  const real = await startRealCluster(assets, options);
  const admin = await connectAsAdmin(real.kubeconfigFile);
  for (const name of [NAMESPACE, 'others']) {
    await admin('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }
  await grantRights(admin, [NAMESPACE, 'others']);
  const realKubeconfig = await kubeconfigOf(admin, 'scheduler', real.kubeconfigFile);
  const address = await between?.(real);
  if (address !== undefined) {
    const text = await readFile(realKubeconfig, 'utf8');
    await writeFile(realKubeconfig, text.replaceAll(real.url, address));
  }
  const world = await startSchedulerWorld({
    playRunners: false,
    realKubeconfig,
    clusterTimeoutMs,
  });
  const instance = await findInstance(world.db);
  return {
    ...world,
    real,
    admin,
    kubeconfigFile: realKubeconfig,
    pods: async () => (await listPods(world.cluster, { namespace: NAMESPACE, instance })).pods,
    annotate: (podName, annotations) =>
      admin('PATCH', `/api/v1/namespaces/${NAMESPACE}/pods/${podName}`, {
        metadata: { annotations },
      }),
    async drive(what, isDone) {
      await waitFor(what, async () => {
        await world.settle(1);
        return isDone();
      });
    },
    async stop() {
      await world.stop();
      await real.stop();
    },
  };
}
