import { poolsSettings } from '@paddock/db/pools/pools-settings';
import { breakerSettings } from '@paddock/db/breakers/breaker-settings';
import type { MatchingSettings } from '@paddock/db/matching/matching-rules';
import { githubSettings } from '@paddock/github/github-settings';
import { type GitHubSection, readGitHubSection } from '@paddock/github/read-github-section';
import { clusterSettings } from '@paddock/kube/cluster-settings';
import { executorSettings } from '@paddock/queue/executor-settings';
import { readConfig } from '@paddock/runtime/read-config';
import { serviceSettings } from '@paddock/runtime/service-settings';
import { type Environment, integer, type SettingsOf } from '@paddock/runtime/settings';

export const settings = {
  ...serviceSettings,
  httpPort: integer({
    env: 'PADDOCK_SCHEDULER_HTTP_PORT',
    doc: 'Port of health and metrics; 0 takes a free one',
    default: 8081,
    min: 0,
    max: 65_535,
  }),
  poolSize: integer({
    env: 'PADDOCK_SCHEDULER_POOL_SIZE',
    doc: 'Pooled connections to PostgreSQL: one for each task that may run at once, and two more; beside them there are three of their own',
    default: 32,
    min: 4,
    max: 1_000,
  }),
  ...githubSettings,
  ...clusterSettings,
  matchTickMs: integer({
    env: 'PADDOCK_MATCH_TICK_MS',
    doc: 'How often demand and supply are compared without a notification',
    default: 15_000,
    min: 50,
    max: 600_000,
  }),
  unschedulableLimit: integer({
    env: 'PADDOCK_UNSCHEDULABLE_LIMIT',
    doc: 'Pods of a pool that find no node; from this number on only one worker is tried at a time',
    default: 2,
    min: 1,
    max: 100_000,
  }),
  unschedulableTrialMs: integer({
    env: 'PADDOCK_UNSCHEDULABLE_TRIAL_MS',
    doc: 'How often one more worker is tried in such a pool',
    default: 60_000,
    min: 1_000,
    max: 86_400_000,
  }),
  registrationsPerMinute: integer({
    env: 'PADDOCK_REGISTRATIONS_PER_MINUTE',
    doc: 'Most workers that are made for one installation in a minute; GitHub allows 900 points, and a registration costs 5',
    default: 180,
    min: 1,
    max: 1_000_000,
  }),
  surplusAfterMs: integer({
    env: 'PADDOCK_SURPLUS_AFTER_MS',
    doc: 'How long a registered worker that no job wants is left for the next job of its key; at once where its place under a cap is wanted',
    default: 60_000,
    min: 0,
    max: 86_400_000,
  }),
  warmLifetimeMs: integer({
    env: 'PADDOCK_WARM_LIFETIME_MS',
    doc: 'Age at which a warm worker is replaced; GitHub forgets an unused registration after a day',
    default: 43_200_000,
    min: 1_000,
    max: 82_800_000,
  }),
  unservedPauseMs: integer({
    env: 'PADDOCK_UNSERVED_PAUSE_MS',
    doc: 'First pause in the making of workers to which GitHub gives no job although one waits; doubled each time',
    default: 600_000,
    min: 1_000,
    max: 86_400_000,
  }),
  unservedLongestPauseMs: integer({
    env: 'PADDOCK_UNSERVED_LONGEST_PAUSE_MS',
    doc: 'Longest such pause',
    default: 7_200_000,
    min: 1_000,
    max: 86_400_000,
  }),
  unexplainedGraceMs: integer({
    env: 'PADDOCK_UNEXPLAINED_GRACE_MS',
    doc: 'How long a worker that ended without a known job stands against a waiting one: two cycles of redelivery and a minute',
    default: 660_000,
    min: 0,
    max: 86_400_000,
  }),
  forgottenAfterMs: integer({
    env: 'PADDOCK_FORGOTTEN_WORKER_MS',
    doc: 'Age at which a worker without a pod and without a task is provisioned again',
    default: 120_000,
    min: 1_000,
    max: 86_400_000,
  }),
  leaseMs: integer({
    env: 'PADDOCK_LEASE_MS',
    doc: 'How long a replica that died keeps others from following the pods',
    default: 8_000,
    min: 1_000,
    max: 300_000,
  }),
  leaseRenewMs: integer({
    env: 'PADDOCK_LEASE_RENEW_MS',
    doc: 'How often the replica that follows the pods says that it lives; at most a third of PADDOCK_LEASE_MS',
    default: 2_000,
    min: 100,
    max: 100_000,
  }),
  namespacesRefreshMs: integer({
    env: 'PADDOCK_NAMESPACES_REFRESH_MS',
    doc: 'How often the replica that follows the pods checks in which namespaces there are any',
    default: 5_000,
    min: 50,
    max: 600_000,
  }),
  watchSeconds: integer({
    env: 'PADDOCK_WATCH_SECONDS',
    doc: 'How long a watch of pods lasts before it is taken up anew; a connection that breaks without a word is noticed after that',
    default: 120,
    min: 1,
    max: 1_800,
  }),
  ...breakerSettings,
  stopIdleApartMs: integer({
    env: 'PADDOCK_STOP_IDLE_APART_MS',
    doc: 'Time between the two readings of GitHub that call a runner idle before it is stopped',
    default: 60_000,
    min: 0,
    max: 86_400_000,
  }),
  stopLastLookMs: integer({
    env: 'PADDOCK_STOP_LAST_LOOK_MS',
    doc: 'From a stopped runner’s removal at GitHub to the last look at its log; then its pod is deleted',
    default: 30_000,
    min: 0,
    max: 3_600_000,
  }),
  stopOfflineMs: integer({
    env: 'PADDOCK_STOP_OFFLINE_MS',
    doc: 'How long GitHub has to call a runner offline whose pod is gone, before its worker ends',
    default: 600_000,
    min: 0,
    max: 86_400_000,
  }),
  stopRetryMs: integer({
    env: 'PADDOCK_STOP_RETRY_MS',
    doc: 'Wait before a stop that something prevented is tried again',
    default: 30_000,
    min: 1_000,
    max: 3_600_000,
  }),
  stopMaxRuns: integer({
    env: 'PADDOCK_STOP_MAX_RUNS',
    doc: 'Most workflow runs with waiting jobs that are asked for before a worker is stopped; with more it is left alone',
    default: 100,
    min: 1,
    max: 10_000,
  }),
  stuckAfterMs: integer({
    env: 'PADDOCK_POD_STUCK_AFTER_MS',
    formerly: 'PADDOCK_STUCK_AFTER_MS',
    doc: 'How long a pod may take to start, and to go after its term, before it counts as stuck and is diagnosed',
    default: 300_000,
    min: 100,
    max: 86_400_000,
  }),
  runnerGroupLifetimeMs: integer({
    env: 'PADDOCK_RUNNER_GROUP_LIFETIME_MS',
    doc: 'How long the id of a runner group is remembered',
    default: 3_600_000,
    min: 0,
    max: 86_400_000,
  }),
  ...poolsSettings,
  reconsiderHours: integer({
    env: 'PADDOCK_RECONSIDER_HOURS',
    doc: 'How far back queued jobs that no pool served are looked at again when the pools have changed',
    default: 48,
    min: 0,
    max: 720,
  }),
  ...executorSettings,
};

export type SchedulerConfig = SettingsOf<typeof settings> & { readonly github: GitHubSection };

/** Reads the settings, the file they name and the Apps' private keys. Throws one ConfigError that names every problem. */
export function readSchedulerConfig(environment: Environment): SchedulerConfig {
  return readConfig(settings, environment, ({ configPath, leaseMs, leaseRenewMs }, problems) => {
    if (leaseMs !== undefined && leaseRenewMs !== undefined && leaseRenewMs * 3 > leaseMs) {
      problems.push(`PADDOCK_LEASE_RENEW_MS must be at most a third of PADDOCK_LEASE_MS, and is ${leaseRenewMs} of ${leaseMs}`);
    }
    if (configPath === undefined) return undefined;
    const github = readGitHubSection(configPath, environment, problems);
    return github === undefined ? undefined : { github };
  });
}

/** The settings by which the matcher decides. */
export const matchingSettings = (config: SchedulerConfig): MatchingSettings => ({
  appIds: config.github.apps.map(({ appId }) => appId),
  unschedulableLimit: config.unschedulableLimit,
  trialEveryMs: config.unschedulableTrialMs,
  registrationsPerMinute: config.registrationsPerMinute,
  surplusAfterMs: config.surplusAfterMs,
  warmLifetimeMs: config.warmLifetimeMs,
  unservedPauses: { firstMs: config.unservedPauseMs, longestMs: config.unservedLongestPauseMs },
});
