import { dbRules, matchingRules } from '@paddock/db/rules';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import type { GitHub } from '@paddock/github/connect';
import { readGitHubSection } from '@paddock/github/follow-keys';
import { githubRules } from '@paddock/github/rules';
import { clusterSettings, kubeRules } from '@paddock/kube/cluster-settings';
import { executorSettings } from '@paddock/queue/executor-settings';
import { queueRules } from '@paddock/queue/rules';
import { readConfig } from '@paddock/runtime/read-config';
import { healthPort, serviceSettings } from '@paddock/runtime/service-settings';
import { type Environment, integer } from '@paddock/runtime/settings';
import { schedulerRules } from './rules.ts';

export const settings = {
  ...serviceSettings,
  healthPort: healthPort(8081),
  poolSize: integer({
    env: 'PADDOCK_SCHEDULER_POOL_SIZE',
    default: 8,
    min: 4,
    max: 1_000,
    doc: 'Pooled connections to PostgreSQL. Two others are not pooled. Raise it if tasks wait for a connection',
  }),
  ...clusterSettings,
  ...executorSettings,
};

const rules = {
  scheduler: schedulerRules,
  db: dbRules,
  github: githubRules,
  kube: kubeRules,
  queue: queueRules,
};

export type SchedulerConfig = ReturnType<typeof readSchedulerConfig>;

/**
 * Reads the settings, the file they name and the Apps' private keys. Throws one ConfigError that
 * names every problem.
 */
export function readSchedulerConfig(environment: Environment) {
  return readConfig({ settings, rules }, environment, ({ configPath }, problems) => {
    if (configPath === undefined) return undefined;
    const github = readGitHubSection(configPath, environment, problems);
    return github === undefined ? undefined : { github };
  });
}

/** The matcher's settings. Its Apps are those in use at each reading. */
export const matchingSettings = (
  config: SchedulerConfig,
  github: Pick<GitHub, 'appIds'>,
): MatchingSettings => ({
  get appIds() {
    return github.appIds;
  },
  ...matchingRules(config),
});
