import { cadenceRules } from '@paddock/queue/sweep-schedules';
import type { Rules } from '@paddock/runtime/rules';
import { DAY_MS } from '@paddock/runtime/settings';

const QUARTER_MS = 90 * DAY_MS;

export const reconcilerRules = {
  ...cadenceRules,
  /**
   * Wait after the first request for a delivery. Later waits are 1, 1, 2, 4, 8 and then 12 times as
   * long.
   */
  redeliverySpacingMs: { value: 300_000, min: 0, max: DAY_MS / 6 },
  /** Most requests of one App in a minute. GitHub allows 180. */
  redeliveryRequestsPerMinute: { value: 150, min: 0, max: 180 },
  /** How often to read the delivery log if deliveries are taken from it. */
  logEveryMs: { value: 5_000, min: 10, max: 300_000 },
  /** Most bodies of one App to read in a minute. GitHub allows 900. */
  logReadsPerMinute: { value: 600, min: 0, max: 900 },
  /** How far back each pass reads the delivery log. */
  logWindowMs: { value: 900_000, min: 0, max: DAY_MS },
  /** Most pages of 100 deliveries in one pass. The next pass reads the rest. */
  logPagesOfPass: { value: 100, min: 1, max: 1_000 },
  /** GitHub keeps deliveries for three days. */
  giveUpAfterMs: { value: 3 * DAY_MS, min: 0, max: 3 * DAY_MS },
  /** With more unresolved deliveries of an App, discovery takes their repositories first. */
  handOverAbove: { value: 500, min: 0, max: 100_000 },

  /**
   * Share of an installation's remaining calls that one pass may use to ask GitHub about jobs in
   * doubt.
   */
  lookUpBudgetPercent: { value: 25, min: 1, max: 100 },
  /** Most jobs that one pass finds in doubt, and as many that it asks GitHub about. */
  lookUpsOfPass: { value: 250, min: 1, max: 10_000 },
  /** Most waiting jobs of a demand key to look up after a runner ended whose job is unknown. */
  lookUpsPerKey: { value: 10, min: 1, max: 1_000 },
  /** The same to look for jobs in repositories: a pass a minute leaves most of the hour's calls. */
  discoverBudgetPercent: { value: 2, min: 0, max: 100 },
  /**
   * How long a job may wait without a reason, or run after its worker ended, before it is stuck.
   * Also the time between two recoveries.
   */
  stuckAfterMs: { value: 600_000, min: 0, max: DAY_MS },
  /** After this many recoveries a stuck job is reported, and may fail if GitHub does not answer. */
  recoveryLimit: { value: 3, min: 0, max: 100 },
  /** How long GitHub must not answer about a stuck job before the job fails. */
  silenceMs: { value: DAY_MS, min: 0, max: QUARTER_MS },
  /** GitHub ends a queued job before this age. A younger one fails only by GitHub's answer. */
  queuedAtMostMs: { value: 2 * DAY_MS, min: 0, max: QUARTER_MS },
  /** Age of a job that is held back at its first look-up. */
  heldLookUpFirstMs: { value: 3_600_000, min: 0, max: QUARTER_MS },
  /** Longest time between two such look-ups; until then it doubles. */
  heldLookUpLongestMs: { value: 21_600_000, min: 0, max: DAY_MS },
  /** GitHub must repeat an answer after this time before a job fails or waits again. */
  secondLookMs: { value: 60_000, min: 0, max: DAY_MS },
  /**
   * Wait before the next look-up of a job for which GitHub did not answer, the first time. Each
   * further wait is twice as long, up to an hour.
   */
  lookUpRetryMs: { value: 60_000, min: 0, max: DAY_MS },
  /** Shortest time between two passes over a repository. */
  discoverRepositoryEveryMs: { value: 300_000, min: 0, max: DAY_MS },
  /** How long a repository stays active after its last run or push. */
  activeMs: { value: DAY_MS, min: 0, max: QUARTER_MS },
  /**
   * Most resting repositories of an installation that are read in a minute, and as many active ones:
   * GitHub allows an installation 900 calls a minute, and a registration counts as five.
   */
  readsOfMinute: { value: 100, min: 0, max: 900 },
  /** How often to list an installation's repositories. A new one, or a push, is seen as late. */
  discoverListEveryMs: { value: 3_600_000, min: 0, max: QUARTER_MS },

  /** Most workers past a deadline that one pass checks. */
  overdueOfPass: { value: 1_000, min: 1, max: 100_000 },
  /** Most stops that one pass requests: if all readings are wrong, few workers suffer. */
  stopsOfPass: { value: 100, min: 1, max: 10_000 },
  /** How long a worker that cannot be stopped waits before it is reported. */
  stopAlertMs: { value: 3_600_000, min: 0, max: DAY_MS },
  /** Most pods of ended workers in a namespace. Above it, the oldest are deleted early. */
  endedPodsPerNamespace: { value: 2_000, min: 0, max: 1_000_000 },
  /** Most pods that one pass deletes. */
  podsOfPass: { value: 10_000, min: 0, max: 1_000_000 },
  /** Time between two look-ups of a runner past a deadline. */
  runnerReadingsApartMs: { value: 60_000, min: 0, max: DAY_MS },
  /** How long GitHub must call the runner of a running pod offline before the worker is stopped. */
  runnerOfflineMs: { value: 600_000, min: 0, max: DAY_MS },
  /** Age at which a stop without a task gets one. */
  forgottenStopMs: { value: 120_000, min: 0, max: DAY_MS },
  /**
   * How long lists must show one of our runners offline and without a live worker before its
   * registration is removed.
   */
  registrationGraceMs: { value: 1_200_000, min: 0, max: QUARTER_MS },
  /** Most registrations that one pass tries to remove, with two calls to GitHub each. */
  registrationsOfPass: { value: 300, min: 0, max: 10_000 },
  /** Most stuck tasks that one pass frees. */
  recoveredTasksOfPass: { value: 250, min: 1, max: 10_000 },
  /** Most old rows that one statement of upkeep removes, in a transaction of its own. */
  rowsOfBatch: { value: 1_000, min: 1, max: 100_000 },
  /** Most such statements of a pass for each sort of rows. */
  batchesOfPass: { value: 100, min: 1, max: 10_000 },
  /** How long to keep what jobs waited for earlier. */
  keepWaitReasonsHours: { value: 24, min: 1, max: 876_000 },
} satisfies Rules;
