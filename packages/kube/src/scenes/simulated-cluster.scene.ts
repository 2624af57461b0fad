import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { connectCluster } from '../connect.ts';

/** A simulated cluster, and a connection to it. */
export async function startSimulatedCluster(options?: Parameters<typeof startKubeSimulator>[0]) {
  const kube = await startKubeSimulator(options);
  const kubeconfigFile = kube.writeKubeconfig();
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 60_000 });
  return {
    kube,
    cluster,
    async stop(): Promise<void> {
      cluster.close();
      await kube.stop();
    },
  };
}
