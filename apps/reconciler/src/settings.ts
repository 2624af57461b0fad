import { deliverySettings } from '@paddock/db/deliveries/decode-delivery';
import { dbRules } from '@paddock/db/rules';
import { readGitHubSection } from '@paddock/github/follow-keys';
import { githubRules } from '@paddock/github/rules';
import { clusterSettings, kubeRules } from '@paddock/kube/cluster-settings';
import { executorSettings } from '@paddock/queue/executor-settings';
import { queueRules } from '@paddock/queue/rules';
import { readConfig } from '@paddock/runtime/read-config';
import { healthPort, serviceSettings } from '@paddock/runtime/service-settings';
import { DAY_MS, duration, type Environment, integer } from '@paddock/runtime/settings';
import { reconcilerRules } from './rules.ts';

export const settings = {
  ...serviceSettings,
  healthPort: healthPort(8082),
  poolSize: integer({
    env: 'PADDOCK_RECONCILER_POOL_SIZE',
    default: 4,
    min: 2,
    max: 1_000,
    doc: 'Pooled connections to PostgreSQL. Two others are not pooled. Raise it if tasks wait for a connection',
  }),
  ...clusterSettings,
  ...deliverySettings,
  ...executorSettings,
  podGraceSucceededMs: duration({
    env: 'PADDOCK_POD_GRACE_SUCCEEDED_MS',
    default: 21_600_000,
    max: 90 * DAY_MS,
    doc: 'How long to keep the pod of a worker that succeeded',
  }),
  podGraceFailedMs: duration({
    env: 'PADDOCK_POD_GRACE_FAILED_MS',
    default: 21_600_000,
    max: 90 * DAY_MS,
    doc: 'How long to keep the pod of a failed worker. Raise it to have more time to examine one',
  }),
  strayRegistrationCap: integer({
    env: 'PADDOCK_STRAY_REGISTRATION_CAP',
    default: 50,
    min: 0,
    max: 10_000,
    doc: 'If an entity has more of our runners that no worker’s row names, none of them is removed, since our rows may be wrong. Raise it once you have checked them',
  }),
  installationsGoneAtMost: integer({
    env: 'PADDOCK_INSTALLATIONS_GONE_AT_MOST',
    default: 20,
    min: 0,
    max: 10_000,
    doc: 'If an App’s list lacks more installations, the list is ignored. Raise it after you removed more at once',
  }),
  keepDays: integer({
    env: 'PADDOCK_KEEP_DAYS',
    default: 90,
    min: 1,
    max: 36_500,
    doc: 'How long to keep events and ended jobs. Events of installations and failed authentications are kept for ever',
  }),
};

const rules = {
  reconciler: reconcilerRules,
  db: dbRules,
  github: githubRules,
  kube: kubeRules,
  queue: queueRules,
};

export type ReconcilerConfig = ReturnType<typeof readReconcilerConfig>;

/**
 * Reads settings, configuration file and private keys. Throws one ConfigError that names every
 * problem.
 */
export function readReconcilerConfig(environment: Environment) {
  return readConfig({ settings, rules }, environment, (values, problems) => {
    if (values.configPath === undefined) return undefined;
    const github = readGitHubSection(values.configPath, environment, problems);
    return github === undefined ? undefined : { github };
  });
}
