import { describe, test } from '@jest/globals';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { startRealCluster } from '@paddock/testing/real-cluster';
import { readFile, writeFile } from 'node:fs/promises';
import { clusterContract } from './cluster.contract.ts';
import { connectCluster } from './connect.ts';

const assets = process.env['KUBEBUILDER_ASSETS'];

if (assets === undefined || assets === '') {
  describe('a real kube-apiserver', () => {
    // eslint-disable-next-line jest/no-disabled-tests, jest/expect-expect
    test.skip('the cluster contract (skipped: KUBEBUILDER_ASSETS names no folder with kube-apiserver and etcd)', () =>
      undefined);
  });
} else {
  clusterContract('a real kube-apiserver', async () => {
    const real = await startRealCluster(assets);
    const strangersFile = `${real.kubeconfigFile}-stranger`;
    const text = await readFile(real.kubeconfigFile, 'utf8');
    await writeFile(strangersFile, text.replace(/"token":"\w+"/, '"token":"wrong"'));
    const cluster = connectCluster({
      kubeconfigFile: real.kubeconfigFile,
      requestTimeoutMs: 20_000,
    });
    const stranger = connectCluster({ kubeconfigFile: strangersFile, requestTimeoutMs: 20_000 });
    return {
      cluster,
      stranger,
      // Before the server's own start.
      tooOldVersion: () => '1',
      stop: async () => {
        cluster.close();
        stranger.close();
        await real.stop();
      },
    };
  });
}

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
