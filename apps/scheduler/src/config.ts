import { poolsSettings } from '@paddock/db/pools/pools-settings';
import { failureRules, failureSettings } from '@paddock/db/matching/failure-settings';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import type { GitHub } from '@paddock/github/connect';
import { githubSettings } from '@paddock/github/github-settings';
import { type GitHubSection, readGitHubSection } from '@paddock/github/read-github-section';
import { clusterSettings } from '@paddock/kube/cluster-settings';
import { executorSettings } from '@paddock/queue/executor-settings';
import { readConfig } from '@paddock/runtime/read-config';
import { serviceSettings } from '@paddock/runtime/service-settings';
import {
  duration,
  type Environment,
  integer,
  port,
  type SettingsOf,
  tuning,
} from '@paddock/runtime/settings';

export const settings = {
  ...serviceSettings,
  httpPort: port({
    env: 'PADDOCK_SCHEDULER_HTTP_PORT',
    default: 8081,
    doc: 'Port of health and metrics',
  }),
  poolSize: integer({
    env: 'PADDOCK_SCHEDULER_POOL_SIZE',
    default: 32,
    min: 4,
    max: 1_000,
    doc: 'Pooled connections to PostgreSQL: one for each task that may run at once, and two more. Three others are not pooled',
  }),
  ...githubSettings,
  ...clusterSettings,
  registrationsPerMinute: integer({
    env: 'PADDOCK_REGISTRATIONS_PER_MINUTE',
    default: 180,
    min: 1,
    max: 1_000_000,
    doc: 'Most workers to make for one installation in a minute. GitHub allows 900 points, and a registration costs 5. GitHub Enterprise Server may allow more',
  }),
  surplusAfterMs: duration({
    env: 'PADDOCK_SURPLUS_AFTER_MS',
    default: 60_000,
    doc: 'How long a registered worker without a job waits for the next one. It goes at once if a job needs its place under a cap',
  }),
  warmLifetimeMs: duration({
    env: 'PADDOCK_WARM_LIFETIME_MS',
    default: 43_200_000,
    min: 1_000,
    max: 82_800_000,
    doc: 'Age at which a warm worker is replaced; GitHub forgets an unused registration after a day',
  }),
  stuckAfterMs: duration({
    env: 'PADDOCK_POD_STUCK_AFTER_MS',
    default: 300_000,
    min: 100,
    doc: 'How long a pod may take to start, and to go after its term, before it is diagnosed as stuck. Raise it for slow image pulls',
  }),
  reconsiderHours: integer({
    env: 'PADDOCK_RECONSIDER_HOURS',
    default: 48,
    min: 0,
    max: 720,
    doc: 'How old a queued job may be that no pool served, to be served after a change of the pools',
  }),
  ...tuning({
    matchTickMs: duration({
      env: 'PADDOCK_MATCH_TICK_MS',
      default: 15_000,
      min: 50,
      max: 600_000,
      doc: 'How often to compare demand and supply without a notification',
    }),
    unexplainedGraceMs: duration({
      env: 'PADDOCK_UNEXPLAINED_GRACE_MS',
      default: 660_000,
      doc: 'How long a worker that ended without a known job counts against a waiting one: two cycles of redelivery and a minute',
    }),
    forgottenAfterMs: duration({
      env: 'PADDOCK_FORGOTTEN_WORKER_MS',
      default: 120_000,
      min: 1_000,
      doc: 'Age at which a worker without a pod and without a task is provisioned again',
    }),
    leaseMs: duration({
      env: 'PADDOCK_LEASE_MS',
      default: 8_000,
      min: 1_000,
      max: 300_000,
      doc: 'How long a dead replica keeps the others from following the pods',
    }),
    leaseRenewMs: duration({
      env: 'PADDOCK_LEASE_RENEW_MS',
      default: 2_000,
      min: 100,
      max: 100_000,
      doc: 'How often the replica that follows the pods renews that lease; at most a third of PADDOCK_LEASE_MS',
    }),
    stopIdleApartMs: duration({
      env: 'PADDOCK_STOP_IDLE_APART_MS',
      default: 60_000,
      doc: 'Time between the two readings at GitHub that must find a runner idle before its worker is stopped',
    }),
    stopLastLookMs: duration({
      env: 'PADDOCK_STOP_LAST_LOOK_MS',
      default: 30_000,
      max: 3_600_000,
      doc: 'Time from a stopped runner’s removal at GitHub to the last look at its log. Then its pod is deleted',
    }),
    stopOfflineMs: duration({
      env: 'PADDOCK_STOP_OFFLINE_MS',
      default: 600_000,
      doc: 'How long GitHub must call a runner offline whose pod is gone, or idle whose log proves nothing, before its worker ends',
    }),
    stopRetryMs: duration({
      env: 'PADDOCK_STOP_RETRY_MS',
      default: 30_000,
      min: 1_000,
      max: 3_600_000,
      doc: 'Wait before a stop that something prevented is tried again',
    }),
  }),
  ...failureSettings,
  ...poolsSettings,
  ...executorSettings,
};

export type SchedulerConfig = SettingsOf<typeof settings> & { readonly github: GitHubSection };

/**
 * Reads the settings, the file they name and the Apps' private keys. Throws one ConfigError that
 * names every problem.
 */
export function readSchedulerConfig(environment: Environment): SchedulerConfig {
  return readConfig(settings, environment, ({ configPath, leaseMs, leaseRenewMs }, problems) => {
    if (leaseMs !== undefined && leaseRenewMs !== undefined && leaseRenewMs * 3 > leaseMs) {
      problems.push(
        `PADDOCK_LEASE_RENEW_MS must be at most a third of PADDOCK_LEASE_MS, and is ${leaseRenewMs} of ${leaseMs}`,
      );
    }
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
  registrationsPerMinute: config.registrationsPerMinute,
  surplusAfterMs: config.surplusAfterMs,
  warmLifetimeMs: config.warmLifetimeMs,
  failureRules: failureRules(config),
});
