import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@paddock/embedded-postgres/free-port';
import { connectAsAdmin } from './admin-api.ts';
import { waitFor } from './wait-for.ts';

const STAGES = join(import.meta.dirname, 'kwok-stages.yaml');
const PROGRAMS = ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const;

/** Whether a folder has the programs that nodes need. */
export const canPlayNodes = (assets: string): boolean =>
  PROGRAMS.every((program) => existsSync(join(assets, program)));

/** The folder that `KUBEBUILDER_ASSETS` names, if it has the programs that nodes need, if any. */
export function findAssets(hasNodes = true): string | undefined {
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  return assets !== '' && (!hasNodes || canPlayNodes(assets)) ? assets : undefined;
}

/** The log of every container, unless the file `container.log` changes. */
const LOG = [
  '√ Connected to GitHub',
  'Listening for Jobs',
  'Runner listener exit with 0 return code, stop the service, no retry needed.',
];

export interface PlayedNodes {
  readonly assets: string;
  readonly dir: string;
  readonly kubeconfigFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly serviceAccountKey: string;
  readonly count: number;
  readonly start: (program: string, flags: Readonly<Record<string, string>>) => void;
}

/**
 * Adds a scheduler, the controllers and nodes simulated by KWOK to a control plane, and waits until
 * they are ready. A pod runs until its annotations end it: see kwok-stages.yaml.
 */
export async function startPlayedNodes(nodes: PlayedNodes): Promise<void> {
  const { assets, dir, kubeconfigFile, certFile, keyFile, start } = nodes;
  if (!canPlayNodes(assets))
    throw new Error(`${assets} lacks one of ${PROGRAMS.join(', ')}, which nodes need`);
  const common = {
    kubeconfig: kubeconfigFile,
    'bind-address': '127.0.0.1',
    'leader-elect': 'false',
  };
  const busy = { 'kube-api-qps': '500', 'kube-api-burst': '1000' };
  start('kube-controller-manager', {
    ...common,
    ...busy,
    'secure-port': String(await findFreePort()),
    'cert-dir': join(dir, 'certs-controllers'),
    'service-account-private-key-file': nodes.serviceAccountKey,
    'root-ca-file': certFile,
    // KWOK sends no heartbeats: the test decides when a node is lost.
    'node-monitor-grace-period': '1000h',
  });
  start('kube-scheduler', {
    ...common,
    ...busy,
    'secure-port': String(await findFreePort()),
    'cert-dir': join(dir, 'certs-scheduler'),
  });
  const kubeletPort = String(await findFreePort());
  const logsFile = join(dir, 'container.log');
  await writeFile(
    logsFile,
    LOG.map((line) => `2026-01-01T00:00:00.000000000Z stdout F ${line}\n`).join(''),
  );
  const logs = {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'ClusterLogs',
    metadata: { name: 'all' },
    spec: { logs: [{ logsFile }] },
  };
  const config = join(dir, 'kwok.yaml');
  await writeFile(config, `${await readFile(STAGES, 'utf8')}---\n${JSON.stringify(logs)}\n`);
  start('kwok', {
    kubeconfig: kubeconfigFile,
    config,
    'manage-nodes-with-annotation-selector': 'kwok.x-k8s.io/node=fake',
    'node-lease-duration-seconds': '0',
    'node-ip': '127.0.0.1',
    'node-port': kubeletPort,
    'server-address': `127.0.0.1:${kubeletPort}`,
    'tls-cert-file': certFile,
    'tls-private-key-file': keyFile,
  });

  const admin = await connectAsAdmin(kubeconfigFile);
  for (let number = 1; number <= nodes.count; number++)
    await admin('POST', '/api/v1/nodes', nodeManifest(`node-${number}`));
  await waitFor('the nodes to be ready', async () => {
    const { items } = (await admin('GET', '/api/v1/nodes')) as { items: PlayedNode[] };
    return items.filter(isReady).length >= nodes.count;
  });
}

interface PlayedNode {
  readonly spec: { readonly taints?: readonly unknown[] };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** The controllers taint a new node until they have seen it ready. */
const isReady = ({ spec, status }: PlayedNode): boolean =>
  spec.taints === undefined &&
  status.conditions?.some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  ) === true;

function nodeManifest(name: string): object {
  const capacity = { cpu: '256', memory: '1Ti', pods: '6000', 'ephemeral-storage': '10Ti' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
      },
    },
    status: { allocatable: capacity, capacity },
  };
}
