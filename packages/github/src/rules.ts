import type { Rules } from '@paddock/runtime/rules';

export const githubRules = {
  /** Longest wait for an answer from GitHub: three times what it takes on a bad day. */
  githubTimeoutMs: { value: 30_000, min: 100, max: 600_000 },
} satisfies Rules;
