// A real control plane on this machine, with nodes that KWOK simulates, for experiments by hand.
// `pnpm cluster [NODES]`; Ctrl-C ends everything.
import { setTimeout as sleep } from 'node:timers/promises';
import { catchSignals } from '@paddock/runtime/run';
import { canPlayNodes } from '../packages/testing/src/played-nodes.ts';
import { startRealCluster } from '../packages/testing/src/real-cluster.ts';

const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
const nodes = Number(process.argv[2] ?? 2);

if (assets === '' || !canPlayNodes(assets) || !Number.isInteger(nodes) || nodes < 1) {
  process.stderr.write(`Usage: pnpm cluster [NODES]   (2 unless said)
KUBEBUILDER_ASSETS has to name a folder with etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok.
`);
  process.exitCode = 2;
} else {
  const signal = catchSignals();
  const cluster = await startRealCluster(assets, { nodes });
  process.stdout.write(`export KUBECONFIG=${cluster.kubeconfigFile}\n`);
  // Nothing else keeps the process alive.
  await sleep(2 ** 31 - 1, undefined, { signal }).catch(() => undefined);
  await cluster.stop();
}
