/** Times of clean-up, which no job waits for. They are short, so that a run sees the end of it. */
const SHORT_TIDYING = {
  PADDOCK_SURPLUS_AFTER_MS: '3000',
  PADDOCK_STOP_IDLE_APART_MS: '2000',
  PADDOCK_STOP_LAST_LOOK_MS: '2000',
  PADDOCK_STOP_OFFLINE_MS: '5000',
  PADDOCK_STOP_RETRY_MS: '2000',
  PADDOCK_CHECK_WORKERS_EVERY_SECONDS: '2',
  PADDOCK_RUNNER_READINGS_APART_MS: '2000',
  PADDOCK_RUNNER_OFFLINE_MS: '5000',
  PADDOCK_FORGOTTEN_STOP_MS: '5000',
  PADDOCK_ENDED_PODS_EVERY_SECONDS: '2',
  PADDOCK_POD_GRACE_SUCCEEDED_MS: '2000',
  PADDOCK_POD_GRACE_FAILED_MS: '2000',
  PADDOCK_REGISTRATIONS_EVERY_SECONDS: '2',
  PADDOCK_REGISTRATION_GRACE_MS: '3000',
};

/**
 * Seconds instead of minutes, so that a run sees the end of everything. They change nothing except
 * the duration; a busy machine still keeps the leases and the limits of calls.
 */
const SHORT_TIMES = {
  ...SHORT_TIDYING,
  PADDOCK_MATCH_TICK_MS: '500',
  PADDOCK_TASK_POLL_MS: '500',
  PADDOCK_TASK_CLAIM_MS: '10000',
  PADDOCK_TASK_BACKOFF_FIRST_MS: '500',
  PADDOCK_TASK_BACKOFF_LONGEST_MS: '5000',
  PADDOCK_LEASE_MS: '6000',
  PADDOCK_LEASE_RENEW_MS: '500',
  PADDOCK_GITHUB_TIMEOUT_MS: '10000',
  PADDOCK_KUBE_TIMEOUT_MS: '10000',
  PADDOCK_FAILING_PAUSE_MS: '500',
  PADDOCK_FAILING_LONGEST_PAUSE_MS: '2500',
  PADDOCK_LOOK_UP_JOBS_EVERY_SECONDS: '2',
  PADDOCK_DISCOVER_JOBS_EVERY_SECONDS: '2',
  PADDOCK_DISCOVER_REPOSITORY_EVERY_MS: '500',
  PADDOCK_DISCOVER_LIST_EVERY_MS: '5000',
  PADDOCK_POD_STUCK_AFTER_MS: '10000',
  PADDOCK_STUCK_JOB_AFTER_MS: '10000',
  PADDOCK_HELD_LOOK_UP_FIRST_MS: '10000',
  PADDOCK_HELD_LOOK_UP_LONGEST_MS: '40000',
  PADDOCK_SECOND_LOOK_MS: '2000',
  PADDOCK_LOOK_UP_RETRY_MS: '3000',
  PADDOCK_FORGOTTEN_WORKER_MS: '5000',
  PADDOCK_UNEXPLAINED_GRACE_MS: '15000',
  PADDOCK_REGISTRATIONS_PER_MINUTE: '3000',
  PADDOCK_REDELIVERY_EVERY_SECONDS: '2',
  PADDOCK_REDELIVERY_SPACING_MS: '2000',
  PADDOCK_REDELIVERY_REQUESTS_PER_MINUTE: '180',
  PADDOCK_RECOVER_TASKS_EVERY_SECONDS: '2',
};

/** Deadlines of the pool's workers, as short as the configuration allows. */
const SHORT_DEADLINES = {
  pendingDeadlineSeconds: 30,
  registrationDeadlineSeconds: 10,
  idleDeadlineSeconds: 10,
};

/** The services' settings of times on a stage, and the caps of workers. */
export interface Times {
  readonly settings: Readonly<Record<string, string>>;
  readonly deadlines: Readonly<Record<string, number>>;
  /** The caps of an entity, and of the pool. */
  readonly caps: Caps;
}

export interface Caps {
  readonly entity: number;
  readonly pool: number;
}

/** A run ends within a minute or two. With many jobs, some wait for a cap. */
export const SHORT: Times = {
  settings: SHORT_TIMES,
  deadlines: SHORT_DEADLINES,
  caps: { entity: 20, pool: 30 },
};

/** A few jobs reach these caps. */
export const TIGHT_CAPS: Caps = { entity: 3, pool: 4 };

/**
 * The times that jobs wait for are the defaults, and no job waits for a cap: it waits for the fault
 * alone.
 */
export const USUAL: Times = {
  settings: SHORT_TIDYING,
  deadlines: SHORT_DEADLINES,
  caps: { entity: 200, pool: 300 },
};

/** The defaults of an installation. The run's remains are cleaned up hours later. */
export const UNTOUCHED: Times = { settings: {}, deadlines: {}, caps: { entity: 200, pool: 300 } };
