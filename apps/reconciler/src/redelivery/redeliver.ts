import {
  bringForwardRequests,
  type DueRedelivery,
  findDueRedeliveries,
  giveUpRedeliveries,
  handOverUnresolved,
  readLogMark,
  recordRedeliveryRequest,
  rememberLostDeliveries,
  resolveDeliveries,
  storeLogMark,
} from '@paddock/db/deliveries/redelivery';
import { endRefusals, recordRefusal } from '@paddock/db/entities/refusals';
import { findStoredDeliveries } from '@paddock/db/events/installation-events';
import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import type { Database } from '@paddock/db/schema/tables';
import { isRefusal } from '@paddock/domain/entities/refused-subject';
import { redeliverySchedule } from '@paddock/domain/tasks/sweep-names';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { isOutage } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { cronExpression, nominalTick } from '../schedules/nominal-tick.ts';
import {
  type DeliveryLog,
  hasArrived,
  judgeLog,
  type LogReading,
  readDeliveryLog,
  showsReturn,
} from './delivery-log.ts';

export interface RedeliverOptions {
  db: Kysely<Database>;
  appId: number;
  log: DeliveryLog;
  events: Pick<
    ReconcilerEvents,
    | 'redelivered'
    | 'redeliveryRefused'
    | 'listingFailed'
    | 'redeliveriesGivenUp'
    | 'deliveredWithoutRow'
  >;
  /** A person wants everything since then that our events lack, by GitHub's clock. */
  since?: Date | undefined;
  /** How often this runs. */
  everySeconds: number;
  windowMs: number;
  maxPages: number;
  perMinute: number;
  firstStepMs: number;
  giveUpMs: number;
  /** With more unresolved deliveries, their repositories go to the front of discovery. */
  handOverAbove: number;
}

export interface RedeliverCounts extends Requests, Verdict {
  pages: number;
  attempts: number;
  /** Attempts that GitHub held back because our endpoint was too slow. */
  throttled: number;
  givenUp: number;
  /** Repositories handed to discovery, since too many deliveries are unresolved. */
  handedOver: number;
  listed: boolean;
  /** The log is not yet read down to where it has to be: the next pass goes on there. */
  more: boolean;
}

interface Verdict {
  /** Deliveries that our events lack, and that no attempt got through of. */
  failed: number;
  /** The same that GitHub calls successful, each counted once. */
  missing: number;
  resolved: number;
}

/** The last part of the log that an extra pass reads again: entries may enter the log this late. */
const EXTRA_WINDOW_MS = 60_000;

/** GitHub waits 10 s for an answer, so an attempt enters the log this late after our return. */
const LATE_MS = 12_000;

/**
 * Runs one pass over one App's delivery log by one rule: what our events lack is asked for. Reads
 * the log, remembers lost deliveries, forgets those that arrived, and asks GitHub to repeat the due
 * ones. A listing that breaks off counts as far as it went. Throws PostgreSQL's errors, and the
 * listing's if a person asked.
 */
export async function redeliver(options: RedeliverOptions, pass: Pass): Promise<RedeliverCounts> {
  const { db, appId, log, since, everySeconds, windowMs, maxPages, giveUpMs } = options;
  const { mark, readAt, now } = await readLogMark(db, appId);
  const isRead = since === undefined || (mark.readTo !== null && mark.readTo <= since);
  // The first pass of each cadence reads the whole window, extra passes only new entries.
  const isExtra = readAt !== null && readAt >= nominalTick(now, cronExpression(everySeconds));
  // The log's instants are GitHub's, whose clock may differ from ours: so the window goes by it.
  const firstPage = log.list(undefined);
  const clock = await firstPage.then(
    ({ answeredAt }) => answeredAt,
    () => undefined,
  );
  const reading = await readDeliveryLog({
    list: (cursor) => (cursor === undefined ? firstPage : log.list(cursor)),
    mark: isRead ? mark : { readTo: since },
    now: clock ?? now,
    windowMs: isExtra ? EXTRA_WINDOW_MS : lookBackMs({ windowMs, everySeconds }),
    horizonMs: giveUpMs,
    maxPages,
    signal: pass.signal,
  });
  const failure = reading.error === undefined ? undefined : classifyGitHubError(reading.error);
  if (reading.pages > 0) await endRefusals(db, { appId });
  if (failure !== undefined && !pass.signal.aborted)
    await noteFailedListing(options, failure, reading.pages);
  if (failure !== undefined && isOutage(failure)) await pass.isAway('github');
  const counts = await act(options, { reading, failure }, pass);
  if (since !== undefined && reading.error !== undefined) throw reading.error;
  return counts;
}

/**
 * How far back the first pass of a cadence reads: past two failed cadences, even if `windowMs` is
 * short.
 */
export const lookBackMs = ({
  windowMs,
  everySeconds,
}: Pick<RedeliverOptions, 'windowMs' | 'everySeconds'>): number =>
  Math.max(windowMs, 3 * everySeconds * 1000);

/** Everything after reading the log. */
async function act(
  options: RedeliverOptions,
  { reading, failure }: { reading: LogReading; failure: GitHubFailure | undefined },
  pass: Pass,
): Promise<RedeliverCounts> {
  const { db, appId, events, giveUpMs, handOverAbove } = options;
  const { isReturn, ...verdict } = await noteVerdict(options, reading);
  // After the verdict: after a crash between the two, the next pass reads these pages again.
  if (reading.pages > 0) await storeLogMark(db, appId, reading.mark);

  const handedOver = await handOverUnresolved(db, appId, handOverAbove);
  const givenUp = await giveUpRedeliveries(db, appId, giveUpMs);
  if (givenUp > 0) events.redeliveriesGivenUp(appId, givenUp);
  const retryAfterMs = failure?.retryAfterMs;
  const asked =
    retryAfterMs === undefined
      ? await requestDueDeliveries(options, pass)
      : { accepted: 0, refused: 0, moreDue: false, retryAfterMs };
  if (isReturn) await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LATE_MS });
  const { pages, attempts, mark } = reading;
  return {
    pages,
    attempts: attempts.length,
    throttled: attempts.filter(({ isThrottled }) => isThrottled).length,
    ...verdict,
    ...asked,
    givenUp,
    handedOver,
    listed: failure === undefined,
    more: mark.rest !== undefined,
  };
}

async function noteFailedListing(
  { db, appId, events }: RedeliverOptions,
  failure: GitHubFailure,
  pages: number,
): Promise<void> {
  // The call that GitHub asked to wait has logged it.
  if (failure.kind === 'rate_limited') return;
  events.listingFailed(appId, failure);
  // After one good page, a refused one is not about our credentials.
  if (pages > 0 || !isRefusal(failure)) return;
  await recordRefusal(db, 'reconciler', { call: { appId }, refusal: failure });
}

/** The rule: each delivery of the part that was to be read, whose event we lack, is asked for. */
async function noteVerdict(
  { db, appId, events, since }: RedeliverOptions,
  reading: LogReading,
): Promise<Verdict & { isReturn: boolean }> {
  const { deliveries, lastSuccess } = judgeLog(reading.attempts);
  const stored = await findStoredDeliveries(db, deliveries);
  const arrived = deliveries.filter((one) => hasArrived(one, stored));
  const lost = deliveries.filter((one) => !hasArrived(one, stored));
  const failed = lost.filter(({ isDelivered }) => !isDelivered);
  // What an older endpoint took, before there was Paddock, was not lost.
  const missing = lost.filter((one) => one.isDelivered && one.lastFailedAt >= reading.since);
  const isAsked = since !== undefined;
  const news = await rememberLostDeliveries(db, appId, [...failed, ...missing], { isAsked });
  const newlyMissing = news.flatMap(({ guid, isDelivered }) => (isDelivered ? [guid] : []));
  if (newlyMissing.length > 0) events.deliveredWithoutRow(appId, newlyMissing);
  const resolved = await resolveDeliveries(
    db,
    appId,
    arrived.map(({ guid }) => guid),
  );
  if (lastSuccess !== undefined) await bringForwardRequests(db, appId, lastSuccess);
  return {
    failed: failed.length,
    missing: newlyMissing.length,
    resolved,
    isReturn: news.length > newlyMissing.length && showsReturn(failed, lastSuccess),
  };
}

/** A minute's share takes seconds so. GitHub allows 100 concurrent requests. */
const REQUESTS_AT_ONCE = 8;
/** Until GitHub's log shows the result of a request. */
const LOGGED_AFTER_MS = 5_000;

interface Requests {
  readonly accepted: number;
  readonly refused: number;
  /** More deliveries are due than a minute's requests allow. */
  readonly moreDue: boolean;
  /** GitHub asks us to wait this long, in milliseconds. No call is made before. */
  readonly retryAfterMs?: number;
}

/**
 * Asks GitHub to repeat the deliveries that are due, or a probe if none is. If others wait for its
 * success, wants another pass soon, once in a cycle.
 */
async function requestDueDeliveries(options: RedeliverOptions, pass: Pass): Promise<Requests> {
  const { db, appId, everySeconds, perMinute } = options;
  // A tenth of the cycle: cycles are not exactly even, and no request may slip into the next one.
  const times = { earlyMs: everySeconds * 100, cycleMs: everySeconds * 1000 };
  const { due, moreDue, othersWait } = await findDueRedeliveries(db, appId, {
    perMinute,
    ...times,
  });
  const asked = await request(options, due, pass);
  if (othersWait && asked.accepted > 0)
    await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LOGGED_AFTER_MS });
  return { ...asked, moreDue: moreDue && asked.retryAfterMs === undefined };
}

/**
 * Requests every due delivery: installations take turns. A failure concerns only its delivery, but
 * once GitHub asks us to wait, the rest stays due.
 */
async function request(
  { db, appId, log, events, firstStepMs }: RedeliverOptions,
  due: readonly DueRedelivery[],
  pass: Pass,
): Promise<Omit<Requests, 'moreDue'>> {
  const counts = { accepted: 0, refused: 0 };
  let retryAfterMs: number | undefined;
  await pass.walk(due, {
    entityOf: ({ installationId }) => installationId ?? 0,
    atOnce: REQUESTS_AT_ONCE,
    async visit(one, turn) {
      turn.isUnasked = retryAfterMs !== undefined;
      if (turn.isUnasked) return false;
      const failure = await log
        .redeliver(one.deliveryId)
        .then(() => undefined, classifyGitHubError);
      if (failure === undefined) {
        counts.accepted++;
        events.redelivered(appId, one.guid);
        await recordRedeliveryRequest(db, appId, one, firstStepMs);
        return true;
      }
      retryAfterMs ??= failure.retryAfterMs;
      turn.isUnasked = failure.kind === 'rate_limited' || failure.retryAfterMs !== undefined;
      // GitHub asked an earlier call to wait, and that call logged it.
      if (turn.isUnasked && failure.neverSent === true) return false;
      counts.refused++;
      events.redeliveryRefused(appId, one.guid, failure);
      // GitHub refused this delivery. Any other failure is not about it.
      const isOver = failure.kind === 'invalid' || failure.kind === 'not_found';
      if (isOver) await recordRedeliveryRequest(db, appId, one, firstStepMs);
      if (!turn.isUnasked && isOutage(failure)) turn.isUnasked = await pass.isAway('github');
      return isOver;
    },
    postpone: ({ guid }) =>
      recordRedeliveryRequest(db, appId, { guid, deliveryId: null }, firstStepMs),
  });
  return retryAfterMs === undefined ? counts : { ...counts, retryAfterMs };
}
