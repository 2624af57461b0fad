import { duration, optional, type SettingsOf, text, tuning } from '@paddock/runtime/settings';
import { type Cluster, connectCluster } from './connect.ts';
import type { ReachabilityEvents } from './reachability.ts';

/** What every service that talks to the cluster reads. */
export const clusterSettings = {
  kubeconfig: optional(text({ env: 'PADDOCK_KUBECONFIG', doc: 'A kubeconfig file. Without it, a service uses its pod’s service account' })),
  kubeContext: optional(text({ env: 'PADDOCK_KUBE_CONTEXT', doc: 'The context of that file to use, if not its current one' })),
  ...tuning({
    kubeTimeoutMs: duration({
      env: 'PADDOCK_KUBE_TIMEOUT_MS',
      default: 30_000,
      min: 100,
      max: 600_000,
      doc: 'Longest wait for an answer of the cluster',
    }),
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
