import type { ValuesOf } from '@paddock/runtime/rules';
import { optional, type SettingsOf, text } from '@paddock/runtime/settings';
import { type Cluster, connectCluster } from './connect.ts';
import type { kubeRules } from './rules.ts';

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
};

/**
 * Connects to the cluster that the settings name, without a call. Throws ConfigError if they name
 * none.
 */
export const connectConfiguredCluster = (
  config: SettingsOf<typeof clusterSettings> & ValuesOf<typeof kubeRules>,
): Cluster =>
  connectCluster({
    kubeconfigFile: config.kubeconfig,
    context: config.kubeContext,
    inCluster: config.kubeconfig === undefined,
    requestTimeoutMs: config.kubeTimeoutMs,
  });
