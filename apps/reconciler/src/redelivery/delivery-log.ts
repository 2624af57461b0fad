import type { LoggedDelivery } from '@paddock/db/events/installation-events';
import type { FailedDelivery } from '@paddock/db/deliveries/redelivery';

/** One attempt at a delivery, as GitHub lists it. The original and its repetitions share the GUID and have ids of their own. */
export interface DeliveryAttempt extends LoggedDelivery {
  /** A whole number as text. */
  id: string;
  deliveredAt: Date;
  /** GitHub held it back for the rate of our endpoint. */
  isThrottled: boolean;
  /** GitHub's word for the result, such as `OK`. */
  status: string;
  /** What our endpoint answered; 0 if nothing came. */
  statusCode: number;
}

const REPEATED_EVENTS: ReadonlySet<string> = new Set(['workflow_job', 'installation', 'installation_repositories', 'installation_target']);

/** True for the events that change what we know; a lost one of another kind harms nobody. */
const isRepeated = ({ event }: DeliveryAttempt): boolean => REPEATED_EVENTS.has(event);

/** A redirect, no answer, and everything else that is no 2xx is a failure, unless GitHub itself calls it OK. */
export const gotThrough = ({ status, statusCode }: DeliveryAttempt): boolean => status === 'OK' || (statusCode >= 200 && statusCode < 300);

export interface LogVerdict {
  /** GUIDs of which some attempt got through. */
  delivered: string[];
  failed: FailedDelivery[];
  /** The newest attempt of any event that got through: then our endpoint was there. */
  lastSuccess: DeliveryAttempt | undefined;
}

/** Judges attempts by delivery: one attempt that got through is enough; else the newest one is to be repeated. Any order, doubles welcome. */
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
 * True if our endpoint was away and is back: the log has a success that is newer than one of these failures, and our endpoint gave no reason for them.
 * Attempts that began before its return may still be under way.
 */
export const showsReturn = ({ failed, lastSuccess }: Pick<LogVerdict, 'failed' | 'lastSuccess'>): boolean =>
  lastSuccess !== undefined &&
  failed.some(
    ({ lastStatusCode, lastFailedAt }) => (lastStatusCode < 400 || lastStatusCode >= 500) && lastFailedAt <= lastSuccess.deliveredAt,
  );

function failureOf(guid: string, attempts: readonly DeliveryAttempt[]): FailedDelivery {
  const sorted = attempts.toSorted(byAge);
  const [oldest, newest] = [sorted[0], sorted.at(-1)];
  if (oldest === undefined || newest === undefined) throw new RangeError(`the delivery ${guid} has no attempts`);
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

/** Two attempts of one second are told apart by their ids, which rise. */
const byAge = (a: DeliveryAttempt, b: DeliveryAttempt): number =>
  a.deliveredAt.getTime() - b.deliveredAt.getTime() || Number(BigInt(a.id) - BigInt(b.id));

/**
 * An attempt at each delivery that GitHub calls delivered after `since` and of which our own events must have a row. Whoever gives the App a
 * repository and takes it again, many times, has GitHub send one body that often, and a body leaves only so many rows. Discovery lists
 * repositories anyway.
 */
export const deliveredSince = (attempts: readonly DeliveryAttempt[], since: Date): DeliveryAttempt[] =>
  oneOfEach(attempts.filter((attempt) => mustHaveRow(attempt) && gotThrough(attempt) && attempt.deliveredAt > since));

const mustHaveRow = (attempt: DeliveryAttempt): boolean => isRepeated(attempt) && attempt.event !== 'installation_repositories';

/** One attempt at each delivery: all tell the same of it. */
export const oneOfEach = (attempts: readonly DeliveryAttempt[]): DeliveryAttempt[] => [
  ...new Map(attempts.map((attempt) => [attempt.guid, attempt])).values(),
];

const STEPS = [1, 1, 1, 2, 4, 8];
const LAST_STEP = 12;

/**
 * The wait after the nth request for one delivery, counted from 1, in milliseconds: with a first step of 5 minutes that is 5, 5, 5, 10, 20,
 * 40, then 60 minutes for ever.
 */
export const requestSpacingMs = (requests: number, firstStepMs: number): number => firstStepMs * (STEPS[requests - 1] ?? LAST_STEP);

/** Of GUIDs that our events lack (`isMissing`) the newest attempt, whatever became of it: to be asked for all the same. */
export const missingSince = (attempts: readonly DeliveryAttempt[], isMissing: (guid: string) => boolean): FailedDelivery[] =>
  [...Map.groupBy(attempts.filter(isRepeated), ({ guid }) => guid)].flatMap(([guid, ofGuid]) =>
    isMissing(guid) ? [failureOf(guid, ofGuid)] : [],
  );
