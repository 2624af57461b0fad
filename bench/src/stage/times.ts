import type { RuleValues } from '@paddock/runtime/rules';

/** Times of clean-up, which no job waits for. They are short, so that a run sees the end of it. */
const SHORT_TIDYING = {
  db: { surplusAfterMs: 3_000 },
  scheduler: {
    stopIdleApartMs: 2_000,
    stopLastLookMs: 2_000,
    stopOfflineMs: 5_000,
    stopRetryMs: 2_000,
  },
  reconciler: {
    checkWorkersEverySeconds: 2,
    runnerReadingsApartMs: 2_000,
    runnerOfflineMs: 5_000,
    forgottenStopMs: 5_000,
    endedPodsEverySeconds: 2,
    registrationsEverySeconds: 2,
    registrationGraceMs: 3_000,
  },
};

/**
 * Seconds instead of minutes, so that a run sees the end of everything. They change nothing except
 * the duration; a busy machine still keeps the leases and the limits of calls.
 */
const SHORT_TIMES = {
  db: {
    failingPauseMs: 500,
    failingLongestPauseMs: 2_500,
    registrationsPerMinute: 3_000,
  },
  scheduler: {
    matchTickMs: 500,
    leaseMs: 6_000,
    leaseRenewMs: 500,
    stuckAfterMs: 10_000,
    forgottenAfterMs: 5_000,
    unexplainedGraceMs: 15_000,
  },
  queue: {
    taskPollMs: 500,
    taskLeaseMs: 10_000,
    taskBackoffFirstMs: 500,
    taskBackoffLongestMs: 5_000,
  },
  github: { githubTimeoutMs: 10_000 },
  kube: { kubeTimeoutMs: 10_000 },
  reconciler: {
    lookUpJobsEverySeconds: 2,
    discoverJobsEverySeconds: 2,
    discoverRepositoryEveryMs: 500,
    discoverListEveryMs: 5_000,
    stuckAfterMs: 10_000,
    heldLookUpFirstMs: 10_000,
    heldLookUpLongestMs: 40_000,
    secondLookMs: 2_000,
    lookUpRetryMs: 3_000,
    redeliveryEverySeconds: 2,
    redeliverySpacingMs: 2_000,
    redeliveryRequestsPerMinute: 180,
    recoverTasksEverySeconds: 2,
  },
};

/** How long the pods of ended workers stay. */
const SHORT_GRACES = {
  PADDOCK_POD_GRACE_SUCCEEDED_MS: '2000',
  PADDOCK_POD_GRACE_FAILED_MS: '2000',
};

/** Deadlines of the pool's workers, as short as the configuration allows. */
const SHORT_DEADLINES = {
  pendingDeadlineSeconds: 30,
  registrationDeadlineSeconds: 10,
  idleDeadlineSeconds: 10,
};

/** The services' times on a stage, and the caps of workers. */
export interface Times {
  readonly settings: Readonly<Record<string, string>>;
  readonly rules: readonly RuleValues[];
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
  settings: SHORT_GRACES,
  rules: [SHORT_TIDYING, SHORT_TIMES],
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
  settings: SHORT_GRACES,
  rules: [SHORT_TIDYING],
  deadlines: SHORT_DEADLINES,
  caps: { entity: 200, pool: 300 },
};

/** The defaults of an installation, and caps that no job waits for. */
export const UNTOUCHED: Times = {
  settings: {},
  rules: [],
  deadlines: {},
  caps: { entity: 10_000, pool: 10_000 },
};
