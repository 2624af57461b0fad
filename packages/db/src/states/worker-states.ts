import { RETURNABLE_REASONS } from '@paddock/domain/workers/stop-reasons';
import { sql } from 'kysely';

// For a WHERE whose innermost table is `workers`. Each is also the condition of a partial index.

const LIVE_TEXT = `status in ('pending', 'running')`;

/** The worker counts in every cap. */
export const LIVE = sql.raw<boolean>(LIVE_TEXT);

/** `LIVE` of the worker with this alias, where other tables have a status too. */
export const isLive = (worker: string) => sql.raw<boolean>(`${worker}.${LIVE_TEXT}`);

/** The worker's pod is being deleted, and was not seen to start: it never will. */
const GOING_UNSTARTED = sql.raw(`terminating_at is not null and running_at is null`);

/**
 * The worker can take a job: it lives, no job is known to run on it, its end was not asked for, and
 * its pod can still start.
 */
export const UNASSIGNED = sql<boolean>`${LIVE} and assigned_at is null and stopping_at is null
  and not (${GOING_UNSTARTED})`;

/**
 * The worker is a reservation: its registration at GitHub has not begun, so its row alone can be
 * ended.
 */
export const RESERVED = sql.raw<boolean>(
  `status = 'pending' and registration_started_at is null and pod_uid is null`,
);

/**
 * The runner ended well although no job of it is known: for a while it counts against a waiting
 * job.
 */
export const UNEXPLAINED = sql.raw<boolean>(
  `unexplained_until is not null and unexplained_until > now() and assigned_at is null`,
);

/** No node takes the worker's pod. */
export const PLACELESS = sql.raw<boolean>(
  `unschedulable_at is not null and status = 'pending' and stopping_at is null`,
);

/** The worker is not on a node yet. */
export const UNPLACED = sql.raw<boolean>(
  `status = 'pending' and k8s_node is null and stopping_at is null`,
);

/** The worker lives, and its end was asked for. */
export const STOPPING = sql<boolean>`${LIVE} and stopping_at is not null`;

/** The worker is unassigned, and GitHub or the cluster knows it: its end takes a task. */
export const RETIRABLE = sql<boolean>`${UNASSIGNED} and (registered_at is not null or pod_uid is not null)`;

/**
 * The worker was asked to end only because no job needed it, and its deregistration has not begun:
 * it can serve again.
 */
export const RETURNABLE = sql<boolean>`${STOPPING} and assigned_at is null
  and deregistration_started_at is null
  and stop_reason in (${sql.join(RETURNABLE_REASONS.map((reason) => sql.lit(reason)))})`;
