import type { KubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { connectCluster, type Cluster } from '../connect.ts';

export const here = { namespace: 'default', instance: 'abc123' };

/** The simulator's credentials are in its kubeconfig; `connectCluster` reads a file. */
export function connectSimulated(simulator: KubeSimulator, requestTimeoutMs = 20_000): Cluster {
  return connectCluster({ kubeconfigFile: simulator.writeKubeconfig(), requestTimeoutMs });
}
