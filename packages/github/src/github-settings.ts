import { duration } from '@paddock/runtime/settings';

/** Settings of every service that calls GitHub. The Apps are in the file (`readGitHubSection`). */
export const githubSettings = {
  githubTimeoutMs: duration({
    env: 'PADDOCK_GITHUB_TIMEOUT_MS',
    default: 30_000,
    min: 100,
    max: 600_000,
    doc: 'Longest wait for an answer from GitHub. Raise it for a slow GitHub Enterprise Server',
  }),
};
