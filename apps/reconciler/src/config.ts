import { breakerSettings } from '@paddock/db/breakers/breaker-settings';
import { githubSettings } from '@paddock/github/github-settings';
import { type GitHubSection, readGitHubSection } from '@paddock/github/read-github-section';
import { clusterSettings } from '@paddock/kube/cluster-settings';
import { executorSettings } from '@paddock/queue/executor-settings';
import { readConfig } from '@paddock/runtime/read-config';
import { serviceSettings } from '@paddock/runtime/service-settings';
import { type Environment, integer, type SettingsOf } from '@paddock/runtime/settings';
import { cronExpression } from './schedules/cron-expression.ts';
import { cadence, DAY_MS, duration } from './duration-settings.ts';
import { jobCadences, jobSettings } from './jobs/job-settings.ts';
import { upkeepCadences, upkeepSettings } from './upkeep/upkeep-settings.ts';
import { workerCadences, workerSettings } from './workers/worker-settings.ts';

/** The schedules' cadences, by the name of the setting. */
const cadences = {
  redeliveryEverySeconds: cadence('PADDOCK_REDELIVERY_EVERY_SECONDS', 'How often each App’s delivery log is looked through', 300),
  ...jobCadences,
  ...workerCadences,
  ...upkeepCadences,
  recoverTasksEverySeconds: cadence('PADDOCK_RECOVER_TASKS_EVERY_SECONDS', 'How often stuck tasks are looked for', 60),
};

export const settings = {
  ...serviceSettings,
  httpPort: integer({
    env: 'PADDOCK_RECONCILER_HTTP_PORT',
    doc: 'Port of health and metrics; 0 picks a free one',
    default: 8082,
    min: 0,
    max: 65_535,
  }),
  poolSize: integer({
    env: 'PADDOCK_RECONCILER_POOL_SIZE',
    doc: 'Pooled connections to PostgreSQL: one for each task that may run at once, and a few more; beside them there are two of their own',
    default: 24,
    min: 2,
    max: 1000,
  }),
  ...githubSettings,
  ...clusterSettings,
  ...executorSettings,
  ...breakerSettings,
  ...cadences,
  pauseCheckMs: integer({
    env: 'PADDOCK_PAUSE_CHECK_MS',
    doc: 'How often a running sweep checks whether somebody has paused it',
    default: 2_000,
    min: 10,
    max: 600_000,
  }),
  redeliveryWindowMs: duration(
    'PADDOCK_REDELIVERY_WINDOW_MS',
    'How far back every look at the delivery log goes; at least three cadences are taken',
    900_000,
    3 * DAY_MS,
  ),
  redeliverySpacingMs: duration(
    'PADDOCK_REDELIVERY_SPACING_MS',
    'Wait after the first request for one delivery; later ones are 1, 1, 2, 4, 8 and then 12 times as long',
    300_000,
    DAY_MS,
  ),
  redeliveryRequestsPerMinute: integer({
    env: 'PADDOCK_REDELIVERY_REQUESTS_PER_MINUTE',
    doc: 'Most requests of one App in a minute; GitHub allows 180',
    default: 150,
    min: 1,
    max: 180,
  }),
  redeliveryPages: integer({
    env: 'PADDOCK_REDELIVERY_PAGES',
    doc: 'Most pages of 100 deliveries that one cycle reads; the rest is read by the next ones',
    default: 100,
    min: 1,
    max: 10_000,
  }),
  redeliveryGiveUpHours: integer({
    env: 'PADDOCK_REDELIVERY_GIVE_UP_HOURS',
    doc: 'Age at which a failed delivery is given up, for GitHub keeps none for longer',
    default: 72,
    min: 1,
    max: 720,
  }),
  redeliveryHandOverAbove: integer({
    env: 'PADDOCK_REDELIVERY_HAND_OVER_ABOVE',
    doc: 'With more unresolved deliveries of an App, their repositories are looked at by discovery first',
    default: 500,
    min: 0,
    max: 1_000_000,
  }),
  ...jobSettings,
  ...workerSettings,
  recoverBatch: integer({
    env: 'PADDOCK_RECOVER_BATCH',
    doc: 'Most rows that one recovery pass takes on',
    default: 250,
    min: 1,
    max: 10_000,
  }),
  taskCountsKeepMonths: integer({
    env: 'PADDOCK_TASK_COUNTS_KEEP_MONTHS',
    doc: 'How long the counts of ended tasks are kept',
    default: 13,
    min: 1,
    max: 1200,
  }),
  ...upkeepSettings,
};

export type ReconcilerConfig = SettingsOf<typeof settings> & { readonly github: GitHubSection };

/** Reads settings, configuration file and private keys. Throws one ConfigError that names every problem. */
export function readReconcilerConfig(environment: Environment): ReconcilerConfig {
  return readConfig(settings, environment, (values, problems) => {
    for (const [key, { env }] of Object.entries(cadences)) {
      const seconds = values[key as keyof typeof cadences];
      if (seconds !== undefined && cronExpression(seconds) === undefined) {
        problems.push(`${env} must be a part of a minute, of an hour or of a day, and is ${seconds}`);
      }
    }
    if (values.configPath === undefined) return undefined;
    const github = readGitHubSection(values.configPath, environment, problems);
    return github === undefined ? undefined : { github };
  });
}
