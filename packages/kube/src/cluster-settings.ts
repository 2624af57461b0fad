import { integer, optional, type SettingsOf, text } from '@paddock/runtime/settings';
import { type Cluster, connectCluster } from './connect.ts';
import type { ReachabilityEvents } from './reachability.ts';

/** What every service that talks to the cluster reads. */
export const clusterSettings = {
  kubeconfig: optional(text({ env: 'PADDOCK_KUBECONFIG', doc: 'A kubeconfig file; absent: the pod’s own service account' })),
  kubeContext: optional(text({ env: 'PADDOCK_KUBE_CONTEXT', doc: 'A context of that file other than its current one' })),
  kubeTimeoutMs: integer({
    env: 'PADDOCK_KUBE_TIMEOUT_MS',
    doc: 'Longest wait for one answer of the cluster',
    default: 30_000,
    min: 100,
    max: 600_000,
  }),
};

/** The cluster that the settings name. Throws ConfigError if they name none; whether it answers is not tried. */
export const connectConfiguredCluster = (config: SettingsOf<typeof clusterSettings>, events: ReachabilityEvents): Cluster =>
  connectCluster({
    kubeconfigFile: config.kubeconfig,
    context: config.kubeContext,
    inCluster: config.kubeconfig === undefined,
    requestTimeoutMs: config.kubeTimeoutMs,
    events,
  });
