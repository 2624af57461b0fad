import type { Rules } from '@paddock/runtime/rules';
import { DAY_MS } from '@paddock/runtime/settings';

export const schedulerRules = {
  /** How often to compare demand and supply without a notification. */
  matchTickMs: { value: 15_000, min: 50, max: 600_000 },
  /**
   * How long a worker that ended without a known job counts against a waiting one: two cycles of
   * redelivery and a minute.
   */
  unexplainedGraceMs: { value: 660_000, min: 0, max: DAY_MS },
  /** Age at which a worker without a pod and without a task is provisioned again. */
  forgottenAfterMs: { value: 120_000, min: 1_000, max: DAY_MS },
  /**
   * How long a pod may take to start, and to go after its term, before it is diagnosed. A slow pull
   * of an image costs no more than a look at the pod.
   */
  stuckAfterMs: { value: 300_000, min: 100, max: DAY_MS },
  /** How old a queued job may be that no pool served, to be served after a change of the pools. */
  reconsiderHours: { value: 48, min: 0, max: 720 },
  /** How long a dead replica keeps the others from following the pods. */
  leaseMs: { value: 8_000, min: 1_000, max: 300_000 },
  /** How often the replica that follows the pods renews that lease; at most a third of it. */
  leaseRenewMs: { value: 2_000, min: 100, max: 100_000 },
  /** Time between the two readings at GitHub that must find a runner idle before it is stopped. */
  stopIdleApartMs: { value: 60_000, min: 0, max: DAY_MS },
  /**
   * Time from a stopped runner's removal at GitHub to the last look at its log. Then its pod is
   * deleted.
   */
  stopLastLookMs: { value: 30_000, min: 0, max: 3_600_000 },
  /**
   * How long GitHub must call a runner offline whose pod is gone, or idle whose log proves nothing,
   * before its worker ends.
   */
  stopOfflineMs: { value: 600_000, min: 0, max: DAY_MS },
  /** Wait before a stop that something prevented is tried again. */
  stopRetryMs: { value: 30_000, min: 1_000, max: 3_600_000 },
} satisfies Rules;
