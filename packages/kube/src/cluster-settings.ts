import type { Rules } from '@paddock/runtime/rules';
import { optional, text } from '@paddock/runtime/settings';

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
