import { duration } from '@paddock/runtime/settings';

/**
 * What every service that asks GitHub reads from its environment; the Apps are in the file
 * (`readGitHubSection`).
 */
export const githubSettings = {
  githubTimeoutMs: duration({
    env: 'PADDOCK_GITHUB_TIMEOUT_MS',
    default: 30_000,
    min: 100,
    max: 600_000,
    doc: 'Longest wait for an answer of GitHub. Raise it for a slow GitHub Enterprise Server',
  }),
};
