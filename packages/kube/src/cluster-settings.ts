import { duration, optional, type SettingsOf, text, tuning } from '@paddock/runtime/settings';
import { type Cluster, connectCluster } from './connect.ts';

/** The settings of every service that talks to the cluster. */
export const clusterSettings = {
  kubeconfig: optional(
    text({
      env: 'PADDOCK_KUBECONFIG',
      doc: 'A kubeconfig file. Without it, a service uses its pod’s service account',
    }),
  ),
  kubeContext: optional(
    text({
      env: 'PADDOCK_KUBE_CONTEXT',
      doc: 'The context of that file to use, if not its current one',
    }),
  ),
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

/**
 * Connects to the cluster that the settings name, without a call. Throws ConfigError if they name
 * none.
 */
export const connectConfiguredCluster = (config: SettingsOf<typeof clusterSettings>): Cluster =>
  connectCluster({
    kubeconfigFile: config.kubeconfig,
    context: config.kubeContext,
    inCluster: config.kubeconfig === undefined,
    requestTimeoutMs: config.kubeTimeoutMs,
  });
