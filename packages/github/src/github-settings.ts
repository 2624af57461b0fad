import { integer, text } from '@paddock/runtime/settings';

/** What every service that asks GitHub reads from its environment; the Apps are in the file (`readGitHubSection`). */
export const githubSettings = {
  configPath: text({ env: 'PADDOCK_CONFIG', doc: 'The configuration file (YAML): GitHub Apps, pools, entities' }),
  githubTimeoutMs: integer({
    env: 'PADDOCK_GITHUB_TIMEOUT_MS',
    doc: 'Longest wait for one answer of GitHub',
    default: 30_000,
    min: 100,
    max: 600_000,
  }),
};
