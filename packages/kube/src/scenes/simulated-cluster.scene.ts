import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Writes kubeconfigs into a folder: for a server, or this text instead. */
export const kubeconfigWriter =
  (folder: string) =>
  (
    name: string,
    server: string,
    {
      text,
      cluster = {},
      user = { token: 'token-b' },
    }: Partial<Record<'cluster' | 'user', object>> & { text?: string } = {},
  ): string => {
    const file = join(folder, name);
    const config = {
      clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true, ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'here',
    };
    writeFileSync(file, text ?? JSON.stringify(config));
    return file;
  };
