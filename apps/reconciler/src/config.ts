import { failureSettings } from '@paddock/db/matching/failure-settings';
import { githubSettings } from '@paddock/github/github-settings';
import { type GitHubSection, readGitHubSection } from '@paddock/github/read-github-section';
import { clusterSettings } from '@paddock/kube/cluster-settings';
import { executorSettings } from '@paddock/queue/executor-settings';
import { readConfig } from '@paddock/runtime/read-config';
import { serviceSettings } from '@paddock/runtime/service-settings';
import {
  DAY_MS,
  duration,
  type Environment,
  integer,
  port,
  type SettingsOf,
  tuning,
} from '@paddock/runtime/settings';
import { evenExpression } from './schedules/cron-expression.ts';
import { cadence } from './schedules/cadence.ts';
import { jobCadences, jobSettings } from './jobs/job-settings.ts';
import { upkeepSettings } from './upkeep/upkeep-settings.ts';
import { workerCadences, workerSettings } from './workers/worker-settings.ts';

/** The schedules' cadences, by setting. */
const cadences = {
  ...tuning({
    redeliveryEverySeconds: cadence(
      'PADDOCK_REDELIVERY_EVERY_SECONDS',
      300,
      'How often to read each App’s delivery log',
    ),
    recoverTasksEverySeconds: cadence(
      'PADDOCK_RECOVER_TASKS_EVERY_SECONDS',
      60,
      'How often to look for stuck tasks',
    ),
  }),
  ...jobCadences,
  ...workerCadences,
};

export const settings = {
  ...serviceSettings,
  httpPort: port({
    env: 'PADDOCK_RECONCILER_HTTP_PORT',
    default: 8082,
    doc: 'Port of health and metrics',
  }),
  poolSize: integer({
    env: 'PADDOCK_RECONCILER_POOL_SIZE',
    default: 24,
    min: 2,
    max: 1_000,
    doc: 'Pooled connections to PostgreSQL: one for each task that may run at once, and a few more. Three others are not pooled',
  }),
  ...githubSettings,
  ...clusterSettings,
  ...executorSettings,
  ...failureSettings,
  ...cadences,
  ...tuning({
    redeliverySpacingMs: duration({
      env: 'PADDOCK_REDELIVERY_SPACING_MS',
      default: 300_000,
      max: DAY_MS / 6,
      doc: 'Wait after the first request for a delivery. Later waits are 1, 1, 2, 4, 8 and then 12 times as long',
    }),
    redeliveryRequestsPerMinute: integer({
      env: 'PADDOCK_REDELIVERY_REQUESTS_PER_MINUTE',
      default: 150,
      min: 1,
      max: 180,
      doc: 'Most requests of one App in a minute; GitHub allows 180',
    }),
  }),
  ...jobSettings,
  ...workerSettings,
  ...upkeepSettings,
};

export type ReconcilerConfig = SettingsOf<typeof settings> & { readonly github: GitHubSection };

/**
 * Reads settings, configuration file and private keys. Throws one ConfigError that names every
 * problem.
 */
export function readReconcilerConfig(environment: Environment): ReconcilerConfig {
  return readConfig(settings, environment, (values, problems) => {
    for (const [key, { env }] of Object.entries(cadences)) {
      const seconds = values[key as keyof typeof cadences];
      if (seconds !== undefined && evenExpression(seconds) === undefined) {
        problems.push(`${env} must divide a minute, an hour or a day evenly, and is ${seconds}`);
      }
    }
    if (values.configPath === undefined) return undefined;
    const github = readGitHubSection(values.configPath, environment, problems);
    return github === undefined ? undefined : { github };
  });
}
