import { writeFile } from 'node:fs/promises';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { clusterContract } from './cluster.contract.ts';
import { connectCluster } from './connect.ts';

clusterContract('the simulated cluster', async () => {
  const simulator = await startKubeSimulator({ kubelet: false });
  const kubeconfigFile = simulator.writeKubeconfig();
  const strangersFile = `${kubeconfigFile}-stranger`;
  await writeFile(strangersFile, simulator.kubeconfig.replace(/"token":"\w+"/, '"token":"wrong"'));
  const cluster = connectCluster({ kubeconfigFile, requestTimeoutMs: 20_000 });
  const stranger = connectCluster({ kubeconfigFile: strangersFile, requestTimeoutMs: 20_000 });
  return {
    cluster,
    stranger,
    tooOldVersion: () => {
      simulator.compact();
      return '1';
    },
    stop: async () => {
      cluster.close();
      stranger.close();
      await simulator.stop();
    },
  };
});
