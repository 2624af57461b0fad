import { writeFile } from 'node:fs/promises';
import { playRunner } from '../github/play-runner.ts';
import { startKubeSimulator } from '../kube/start-kube-simulator.ts';

/** Runs the simulated cluster as a process; its options are the first argument, as JSON. */
const { namespaces, kubeconfigFile, idleRunners, seed, countBy } = JSON.parse(
  process.argv[2] ?? '',
) as {
  namespaces: string[];
  kubeconfigFile: string;
  /** The runners start and never connect to GitHub: all jobs stay queued. */
  idleRunners?: boolean;
  seed?: number;
  countBy?: string[][];
};
const cluster = await startKubeSimulator({
  namespaces,
  seed,
  countBy,
  ...(idleRunners === true ? {} : { playRunner }),
});
await writeFile(kubeconfigFile, cluster.kubeconfig, { mode: 0o600 });
process.on('SIGTERM', () => void cluster.stop());
console.log(JSON.stringify({ message: 'listening', port: Number(new URL(cluster.url).port) }));
