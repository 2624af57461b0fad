import type { Rules } from '@paddock/runtime/rules';

export const kubeRules = {
  /** Longest wait for an answer of the cluster. */
  kubeTimeoutMs: { value: 30_000, min: 100, max: 600_000 },
} satisfies Rules;
