import type { JudgedDelivery } from '@paddock/db/deliveries/redelivery';
import type { WebhookDelivery } from '@paddock/github/deliveries';

/** The events that change our rows. Other events may get lost without harm. */
const REPEATED_EVENTS: ReadonlySet<string> = new Set([
  'workflow_job',
  'installation',
  'installation_repositories',
  'installation_target',
]);

/** Everything but 2xx is a failure, also a redirect or no answer, unless GitHub calls it OK. */
export const gotThrough = ({ status, statusCode }: WebhookDelivery): boolean =>
  status === 'OK' || (statusCode >= 200 && statusCode < 300);

export interface JudgedLog {
  deliveries: JudgedDelivery[];
  /** The newest attempt of any event that got through: our endpoint was reachable then. */
  lastSuccess: WebhookDelivery | undefined;
}

/**
 * Judges the deliveries that change our rows, each by all its attempts, which share its GUID.
 * Attempts may come in any order and more than once.
 */
export function judgeLog(attempts: readonly WebhookDelivery[]): JudgedLog {
  const repeated = attempts.filter(({ event }) => REPEATED_EVENTS.has(event));
  return {
    deliveries: [...Map.groupBy(repeated, ({ guid }) => guid).values()].map(judge),
    lastSuccess: attempts.filter(gotThrough).toSorted(byAge).at(-1),
  };
}

function judge(attempts: readonly WebhookDelivery[]): JudgedDelivery {
  const sorted = attempts.toSorted(byAge);
  const [oldest, newest] = [sorted[0], sorted.at(-1)];
  if (oldest === undefined || newest === undefined)
    throw new RangeError('a delivery without an attempt cannot be judged');
  const { guid, event, action, installationId, repositoryId } = newest;
  return {
    guid,
    event,
    action,
    installationId,
    repositoryId,
    isDelivered: attempts.some(gotThrough),
    deliveryId: newest.id,
    firstFailedAt: oldest.deliveredAt,
    lastFailedAt: newest.deliveredAt,
    lastStatusCode: newest.statusCode,
  };
}

/** Within one second ids decide: GitHub's ids rise. */
const byAge = (a: WebhookDelivery, b: WebhookDelivery): number =>
  a.deliveredAt.getTime() - b.deliveredAt.getTime() || Number(BigInt(a.id) - BigInt(b.id));

/**
 * True if a delivery has reached us. `installation_repositories` need no row: we store only 20 rows
 * of one body, and selecting a repository again and again repeats a body. Discovery lists
 * repositories anyway.
 */
export const hasArrived = (
  { guid, event, isDelivered }: JudgedDelivery,
  stored: ReadonlySet<string>,
): boolean => stored.has(guid) || (isDelivered && event === 'installation_repositories');

/**
 * True if our endpoint was away and is back: a success is newer than a failure that was no refusal
 * (4xx) by our endpoint. Attempts that began before the return may still be under way.
 */
export const showsReturn = (
  failed: readonly JudgedDelivery[],
  lastSuccess: WebhookDelivery | undefined,
): boolean =>
  lastSuccess !== undefined &&
  failed.some(
    ({ lastStatusCode, lastFailedAt }) =>
      (lastStatusCode < 400 || lastStatusCode >= 500) && lastFailedAt <= lastSuccess.deliveredAt,
  );
