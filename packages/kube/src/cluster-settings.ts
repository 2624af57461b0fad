import type { Rules, ValuesOf } from '@paddock/runtime/rules';
import { optional, type SettingsOf, text } from '@paddock/runtime/settings';
import { type Cluster, connectCluster } from './connect.ts';

/** The settings of every service that talks to the cluster. */
export const clusterSettings = {
  kubeconfig: optional(
    text({
      env: 'PADDOCK_KUBECONFIG',
      doc: 'A kubeconfig file. Without it, a service uses its pod’s service account',
    }),
  ),
};

export const kubeRules = {
  /** Longest wait for an answer of the cluster. */
  kubeTimeoutMs: { value: 30_000, min: 100, max: 600_000 },
} satisfies Rules;

/**
 * Connects to the cluster that the settings name, without a call. Throws ConfigError if they name
 * none.
 */
export const connectConfiguredCluster = (
  config: SettingsOf<typeof clusterSettings> & ValuesOf<typeof kubeRules>,
): Cluster =>
  connectCluster({
    kubeconfigFile: config.kubeconfig,
    requestTimeoutMs: config.kubeTimeoutMs,
  });
