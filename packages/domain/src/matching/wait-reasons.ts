/**
 * Why no more workers are made for a demand key whose jobs wait: `demand_keys.wait_reason`. A job's answer is its key's (C4, P5).
 * Stored as text, so that a new one needs no migration; this list is the documentation of all that are written.
 */
export const WAIT_REASONS = {
  pool_unknown: 'the pool is not in the configuration any more',
  no_pool_fits:
    'no pool serves the job any more: a label was taken from its pool, or it serves neither its account, nor its repository, nor public ones',
  pool_closed: 'the pool does not serve the account, or the repository, any more',
  runner_group_open:
    'the organisation’s runner group lets in more than the pool serves: `runner_groups` says what, and how to have it if it is meant; one worker tries again later',
  pool_paused: 'the pool is paused by configuration',
  entity_not_allowed: 'the account is not among the configured entities any more',
  making_stopped: 'somebody has stopped the making of workers for the environment, the pool or the account',
  github_unavailable: 'GitHub has failed time and again; one worker stands ready to try again',
  cluster_unavailable: 'the cluster has failed time and again; one worker stands ready to try again',
  installation_refused: 'GitHub refuses what the App asks for the account, or gives no usable answer; one worker stands ready to try again',
  registration_conflict: 'GitHub answers every registration at the account with 409 Conflict; one worker stands ready to try again',
  installation_suspended: 'GitHub has said that the App is suspended on the account',
  app_not_configured: 'no App that is configured here is installed on the account',
  installation_gone: 'GitHub says that the App is not installed on the account any more',
  repository_gone: 'GitHub knows no such repository any more, or does not show it to the App; one worker stands ready to try again',
  repository_refused: 'GitHub refuses to register runners at the repository; one worker stands ready to try again',
  pool_failing:
    'workers of the pool, or the account’s own ones there, have failed time and again before they had a job; one stands ready to try again',
  runner_outdated:
    'GitHub serves the version of the pool’s runners no more, so its image has to be newer; one worker stands ready to try again',
  github_budget: 'GitHub allows the installation no more registrations of runners for now',
  at_entity_cap: 'the account has as many workers as its maxWorkers allows',
  at_common_cap: "the accounts that only '*' admits have together as many workers as its commonMaxWorkers allows",
  no_capacity: 'the cluster has no node for workers that the pool has already; one more is tried from time to time',
  at_pool_cap: 'the pool has as many workers as its maxWorkers allows',
  github_does_not_assign: 'GitHub gave workers of the key no job for long; one more is tried from time to time',
  at_repository_cap: 'the repository has as many workers as maxWorkersPerRepository of the pool allows',
  unexplained_ends:
    'runners of the key ended well, or are stopped, whose jobs we have not heard of: GitHub is asked whether these still wait',
} as const;

export type WaitReason = keyof typeof WAIT_REASONS;
