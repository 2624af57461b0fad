import { writeFile } from 'node:fs/promises';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';

/** The simulated cluster as a process of its own; its options are the first argument, as JSON. */
const { namespaces, kubeconfigFile } = JSON.parse(process.argv[2] ?? '') as { namespaces: string[]; kubeconfigFile: string };
const cluster = await startKubeSimulator({ namespaces, playRunner });
await writeFile(kubeconfigFile, cluster.kubeconfig, { mode: 0o600 });
process.on('SIGTERM', () => void cluster.stop());
console.log(JSON.stringify({ message: 'listening', port: Number(new URL(cluster.url).port) }));
