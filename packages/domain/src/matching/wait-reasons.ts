/**
 * Why no more workers are made for a demand key whose jobs wait: `demand_keys.wait_reason`. A job's
 * answer is its key's. Stored as text, so that a new one needs no migration.
 */
export const WAIT_REASONS = {
  pool_unknown: 'the pool is no longer in the configuration',
  no_pool_fits:
    'no pool serves the job now: its pool lost one of the labels, or does not serve its entity, its repository or public ones',
  pool_closed: 'the pool no longer serves the entity or the repository',
  runner_group_open:
    'the organisation’s runner group lets in more than the pool serves: `runner_groups` says what, and how to allow it; one worker tries again later',
  pool_paused: 'the pool is paused by configuration',
  entity_not_allowed: 'the entity is not among the configured entities',
  making_stopped:
    'a person has stopped the making of workers for the environment, the pool or the entity',
  github_unavailable: 'GitHub does not answer; it is asked once a second',
  cluster_unavailable: 'the cluster’s API server does not answer; it is asked once a second',
  installation_refused:
    'GitHub refuses what the App asks for the entity; one worker asks again later',
  installation_suspended: 'GitHub says that the App is suspended on the entity',
  app_not_configured: 'no App that is configured here is installed on the entity',
  installation_gone: 'GitHub says that the App is no longer installed on the entity',
  repository_gone:
    'GitHub knows no such repository, or does not show it to the App; one worker asks again later',
  repository_refused:
    'GitHub refuses to register runners at the repository; one worker asks again later',
  workers_failing:
    'workers of the key have failed time and again before they had a job; one tries again later',
  pool_suspected:
    'workers of two other entities fail in the pool: one worker starts first, and the rest follow it',
  runner_outdated:
    'GitHub no longer serves the version of the pool’s runners: it needs a newer image; one worker tries again later',
  github_budget: 'GitHub allows the installation no more registrations of runners for now',
  at_entity_cap: 'the entity has as many workers as its maxWorkers allows',
  at_common_cap:
    "the entities that only '*' admits have together as many workers as its commonMaxWorkers allows",
  no_capacity:
    'no node takes workers that the key has already; more follow when these find nodes or end',
  at_pool_cap: 'the pool has as many workers as its maxWorkers allows',
  github_does_not_assign:
    'GitHub has given workers of the key no job for long; one tries again later',
  at_repository_cap:
    'the repository has as many workers as maxWorkersPerRepository of the pool allows',
  unexplained_ends:
    'runners of the key ended well or are being stopped, and their jobs are unknown: GitHub is asked whether jobs still wait',
} as const;

export type WaitReason = keyof typeof WAIT_REASONS;

/** Limits that people set: jobs that wait for one of these wait as intended, without an alert. */
export const LIMITS_BY_PEOPLE = [
  'making_stopped',
  'pool_paused',
  'at_entity_cap',
  'at_common_cap',
  'at_pool_cap',
  'at_repository_cap',
] as const satisfies readonly WaitReason[];
