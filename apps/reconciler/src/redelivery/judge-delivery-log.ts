import type { LoggedDelivery } from '@paddock/db/events/installation-events';
import type { FailedDelivery } from '@paddock/db/deliveries/redelivery';

/** One attempt at a delivery, as GitHub lists it. All attempts share the GUID; each has its id. */
export interface DeliveryAttempt extends LoggedDelivery {
  /** A whole number as text. */
  id: string;
  deliveredAt: Date;
  /** GitHub held it back because our endpoint was too slow. */
  isThrottled: boolean;
  /** GitHub's word for the result, such as `OK`. */
  status: string;
  /** Our endpoint's status; 0 without an answer. */
  statusCode: number;
}

const REPEATED_EVENTS: ReadonlySet<string> = new Set([
  'workflow_job',
  'installation',
  'installation_repositories',
  'installation_target',
]);

/** True for the events that change our rows. Other events may get lost without harm. */
const isRepeated = ({ event }: DeliveryAttempt): boolean => REPEATED_EVENTS.has(event);

/** Everything but 2xx is a failure, also a redirect or no answer, unless GitHub calls it OK. */
export const gotThrough = ({ status, statusCode }: DeliveryAttempt): boolean =>
  status === 'OK' || (statusCode >= 200 && statusCode < 300);

export interface LogVerdict {
  /** GUIDs with an attempt that got through. */
  delivered: string[];
  failed: FailedDelivery[];
  /** The newest attempt of any event that got through: our endpoint was reachable then. */
  lastSuccess: DeliveryAttempt | undefined;
}

/**
 * Judges deliveries: one attempt that got through is enough, else the newest one is to be repeated.
 * Attempts may come in any order and more than once.
 */
export function judgeLog(attempts: readonly DeliveryAttempt[]): LogVerdict {
  const byGuid = Map.groupBy(attempts.filter(isRepeated), ({ guid }) => guid);
  const delivered: string[] = [];
  const failed: FailedDelivery[] = [];
  for (const [guid, ofGuid] of byGuid) {
    if (ofGuid.some(gotThrough)) delivered.push(guid);
    else failed.push(failureOf(guid, ofGuid));
  }
  return { delivered, failed, lastSuccess: attempts.filter(gotThrough).toSorted(byAge).at(-1) };
}

/**
 * True if our endpoint was away and is back: a success is newer than a failure that was no refusal
 * (4xx) by our endpoint. Attempts that began before the return may still be under way.
 */
export const showsReturn = ({
  failed,
  lastSuccess,
}: Pick<LogVerdict, 'failed' | 'lastSuccess'>): boolean =>
  lastSuccess !== undefined &&
  failed.some(
    ({ lastStatusCode, lastFailedAt }) =>
      (lastStatusCode < 400 || lastStatusCode >= 500) && lastFailedAt <= lastSuccess.deliveredAt,
  );

function failureOf(guid: string, attempts: readonly DeliveryAttempt[]): FailedDelivery {
  const sorted = attempts.toSorted(byAge);
  const [oldest, newest] = [sorted[0], sorted.at(-1)];
  if (oldest === undefined || newest === undefined)
    throw new RangeError(`the delivery ${guid} has no attempts`);
  return {
    guid,
    deliveryId: newest.id,
    event: newest.event,
    action: newest.action,
    installationId: newest.installationId,
    repositoryId: newest.repositoryId,
    firstFailedAt: oldest.deliveredAt,
    lastFailedAt: newest.deliveredAt,
    lastStatusCode: newest.statusCode,
  };
}

/** Within one second ids decide: GitHub's ids rise. */
const byAge = (a: DeliveryAttempt, b: DeliveryAttempt): number =>
  a.deliveredAt.getTime() - b.deliveredAt.getTime() || Number(BigInt(a.id) - BigInt(b.id));

/**
 * One attempt at each delivery that got through after `since` and must have a row in our events.
 * `installation_repositories` need none: we store only 20 rows of one body, and selecting a
 * repository again and again repeats a body. Discovery lists repositories anyway.
 */
export const deliveredSince = (
  attempts: readonly DeliveryAttempt[],
  since: Date,
): DeliveryAttempt[] =>
  oneOfEach(
    attempts.filter(
      (attempt) => mustHaveRow(attempt) && gotThrough(attempt) && attempt.deliveredAt > since,
    ),
  );

const mustHaveRow = (attempt: DeliveryAttempt): boolean =>
  isRepeated(attempt) && attempt.event !== 'installation_repositories';

/** One attempt at each delivery; which one makes no difference. */
export const oneOfEach = (attempts: readonly DeliveryAttempt[]): DeliveryAttempt[] => [
  ...new Map(attempts.map((attempt) => [attempt.guid, attempt])).values(),
];

/** The newest attempt at each delivery that our events lack (`isMissing`), failed or not. */
export const missingSince = (
  attempts: readonly DeliveryAttempt[],
  isMissing: (guid: string) => boolean,
): FailedDelivery[] =>
  [...Map.groupBy(attempts.filter(isRepeated), ({ guid }) => guid)].flatMap(([guid, ofGuid]) =>
    isMissing(guid) ? [failureOf(guid, ofGuid)] : [],
  );
