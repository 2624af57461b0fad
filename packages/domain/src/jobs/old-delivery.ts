import type { JobStatement } from '../deliveries/workflow-job-event.ts';

/**
 * A `queued` delivery of so long ago may be a captured one that somebody sends again, of a job whose row has been retired. GitHub drops a job
 * that no runner has taken for a day, but one that waited for an approval is queued late.
 */
export const OLD_AFTER_MS = 86_400_000;

/** Whether a statement of a waiting job is so old at `now`, in milliseconds since 1970. */
export const isOldDemand = ({ status, queuedAt }: Pick<JobStatement, 'status' | 'queuedAt'>, now: number): boolean =>
  status === 'pending' && queuedAt !== null && Date.parse(queuedAt) < now - OLD_AFTER_MS;
