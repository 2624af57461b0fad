import type { JobStatement } from '../deliveries/workflow-job-event.ts';

/**
 * A `queued` delivery this old may be a captured one, replayed after its job's row was retired.
 * GitHub drops a job that no runner took for a day. But a job that waited for an approval is queued
 * late.
 */
export const OLD_AFTER_MS = 86_400_000;

/** Whether a waiting job's statement is that old at `now`, in milliseconds since 1970. */
export const isOldDemand = (
  { status, queuedAt }: Pick<JobStatement, 'status' | 'queuedAt'>,
  now: number,
): boolean =>
  status === 'pending' && queuedAt !== null && Date.parse(queuedAt) < now - OLD_AFTER_MS;
