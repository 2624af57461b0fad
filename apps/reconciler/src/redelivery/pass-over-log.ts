import {
  bringForwardRequests,
  giveUpRedeliveries,
  handOverUnresolved,
  readLogMark,
  rememberLostDeliveries,
  resolveDeliveries,
  storeLogMark,
} from '@paddock/db/deliveries/redelivery';
import { endRefusals, recordRefusal } from '@paddock/db/entities/refusals';
import { findStoredDeliveries } from '@paddock/db/events/append-events';
import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import { isRefusal } from '@paddock/domain/entities/refused-subject';
import { redeliverySchedule } from '@paddock/domain/tasks/sweep-names';
import type { AppClient } from '@paddock/github/connect';
import { type DeliveryPage, listDeliveries } from '@paddock/github/deliveries';
import { classifyGitHubError, type GitHubFailure, isUnanswered } from '@paddock/github/errors';
import type { Pass } from '../passes/pass.ts';
import { nominalTick } from '../schedules/nominal-tick.ts';
import type { SweepContext } from '../sweep.ts';
import {
  hasArrived,
  judgeLog,
  type LogReading,
  readDeliveryLog,
  showsReturn,
} from './delivery-log.ts';
import { requestDueDeliveries, type Requests } from './request-deliveries.ts';

/** The last part of the log that an extra pass reads again: entries may enter the log this late. */
const EXTRA_WINDOW_MS = 60_000;

/** The same where deliveries are taken from the log: its passes follow each other closely. */
const LOG_WINDOW_MS = 15_000;

/** GitHub waits 10 s for an answer, so an attempt enters the log this late after our return. */
const LATE_MS = 12_000;

/**
 * Runs one pass over one App's delivery log by one rule: what our events lack is asked for. Reads
 * the log, remembers lost deliveries, forgets those that arrived, and asks GitHub to repeat the due
 * ones. A listing that breaks off counts as far as it went. `since`: a person wants everything from
 * then on that our events lack, by GitHub's clock. Throws PostgreSQL's errors, and the listing's if a
 * person asked.
 */
export async function passOverLog(
  context: SweepContext,
  app: AppClient,
  since: Date | undefined,
  pass: Pass,
) {
  const { db, events, config } = context;
  const { appId } = app;
  const read = await readLog(context, app, since, pass);
  const { reading, failure, isRefused, isExtra } = read;
  const { isReturn, ...verdict } = await noteVerdict(context, appId, since, read);
  // After the verdict: after a crash between the two, the next pass reads these pages again.
  if (reading.pages > 0) await storeLogMark(db, appId, reading.mark);

  const handedOver = await handOverUnresolved(db, appId, config.handOverAbove);
  const givenUp = await giveUpRedeliveries(db, appId, config.giveUpAfterMs);
  if (givenUp > 0) events.redeliveriesGivenUp(appId, givenUp);
  let asked: Requests = { accepted: 0, refused: 0, moreDue: false };
  if (failure?.retryAfterMs === undefined && !isRefused)
    asked = await requestDueDeliveries(context, app, pass);
  const { retryAfterMs = failure?.retryAfterMs, ...requests } = asked;
  if (isReturn) await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LATE_MS });
  if (since !== undefined && reading.error !== undefined) throw reading.error;
  const { pages, attempts, mark } = reading;
  const counts = {
    pages,
    attempts: attempts.length,
    /** Attempts that GitHub held back because our endpoint was too slow. */
    throttled: attempts.filter(({ isThrottled }) => isThrottled).length,
    ...verdict,
    ...requests,
    givenUp,
    /** Repositories handed to discovery, since too many deliveries are unresolved. */
    handedOver,
    listed: failure === undefined,
    /** The log is not yet read down to where it has to be: the next pass goes on there. */
    more: mark.rest !== undefined,
  };
  return { counts, isExtra, isRefused, retryAfterMs };
}

interface Read {
  readonly reading: LogReading;
  readonly failure: GitHubFailure | undefined;
  readonly isRefused: boolean;
  /** It read only what is new since the first pass of this cadence. */
  readonly isExtra: boolean;
  /** When this environment was made. */
  readonly installedAt: Date;
}

async function readLog(
  context: SweepContext,
  app: AppClient,
  since: Date | undefined,
  pass: Pass,
): Promise<Read> {
  const { db, config } = context;
  const { appId } = app;
  const extraMs = context.takesFromLog() ? LOG_WINDOW_MS : EXTRA_WINDOW_MS;
  const everySeconds = config.redeliveryEverySeconds;
  const { mark, readAt, now, installedAt } = await readLogMark(db, appId);
  const isRead = since === undefined || (mark.readTo !== null && mark.readTo <= since);
  // The first pass of each cadence reads the whole window, extra passes only new entries.
  const isExtra = readAt !== null && readAt >= nominalTick(now, everySeconds);
  const newestPage = readNewestPage(context, app);
  // The log's instants are GitHub's, whose clock may differ from ours: so the window goes by it.
  const clock = await newestPage.then(
    ({ answeredAt }) => answeredAt,
    () => undefined,
  );
  const reading = await readDeliveryLog({
    list: (cursor) => (cursor === undefined ? newestPage : listDeliveries(app, { cursor })),
    mark: isRead ? mark : { readTo: since },
    now: clock ?? now,
    windowMs: isExtra ? extraMs : lookBackMs(config.logWindowMs, everySeconds),
    horizonMs: config.giveUpAfterMs,
    maxPages: config.logPagesOfPass,
    signal: pass.signal,
  });
  const failure = reading.error === undefined ? undefined : classifyGitHubError(reading.error);
  // After one good page, a refused one is not about our credentials.
  const isRefused = reading.pages === 0 && failure !== undefined && isRefusal(failure);
  if (reading.pages > 0) await endRefusals(db, { appId });
  if (failure !== undefined && !pass.signal.aborted)
    await noteFailedListing(context, appId, { failure, isRefused });
  if (failure !== undefined && isUnanswered(failure)) await pass.isAway('github');
  return { reading, failure, isRefused, isExtra, installedAt };
}

/** It costs none of the budget while it is as this process read it last. */
async function readNewestPage(
  { newestPages }: SweepContext,
  app: AppClient,
): Promise<DeliveryPage> {
  const known = newestPages.get(app.appId);
  const page = await listDeliveries(app, known === undefined ? {} : { known });
  newestPages.set(app.appId, page);
  return page;
}

/**
 * How far back the first pass of a cadence reads: past two failed cadences, even if `windowMs` is
 * short.
 */
export const lookBackMs = (windowMs: number, everySeconds: number): number =>
  Math.max(windowMs, 3 * everySeconds * 1000);

async function noteFailedListing(
  { db, events }: SweepContext,
  appId: number,
  { failure, isRefused }: { failure: GitHubFailure; isRefused: boolean },
): Promise<void> {
  // The call that GitHub asked to wait has logged it.
  if (failure.kind === 'rate_limited') return;
  events.listingFailed(appId, failure);
  if (isRefused) await recordRefusal(db, 'reconciler', { call: { appId }, refusal: failure });
}

/** The rule: each delivery of the part that was to be read, whose event we lack, is asked for. */
async function noteVerdict(
  { db, events, takesFromLog }: SweepContext,
  appId: number,
  since: Date | undefined,
  { reading, installedAt }: Pick<Read, 'reading' | 'installedAt'>,
) {
  const { deliveries, lastSuccess } = judgeLog(reading.attempts);
  const stored = await findStoredDeliveries(db, deliveries);
  const isUnheard = takesFromLog();
  const { arrived = [], lost = [] } = Object.groupBy(deliveries, (one) =>
    hasArrived(one, stored, isUnheard) ? 'arrived' : 'lost',
  );
  const failed = lost.filter(({ isDelivered }) => !isDelivered);
  const isAsked = since !== undefined;
  // What another endpoint took, or another environment, before there was this one, was not lost.
  const from = isAsked || reading.since > installedAt ? reading.since : installedAt;
  const missing = lost.filter((one) => one.isDelivered && one.lastFailedAt >= from);
  const news = await rememberLostDeliveries(db, appId, [...failed, ...missing], { isAsked });
  const newlyMissing = news.flatMap(({ guid, isDelivered }) => (isDelivered ? [guid] : []));
  // Where deliveries come from the log, another server may answer at the webhook's address.
  if (newlyMissing.length > 0 && !isUnheard) events.deliveredWithoutRow(appId, newlyMissing);
  const resolved = await resolveDeliveries(
    db,
    appId,
    arrived.map(({ guid }) => guid),
  );
  if (lastSuccess !== undefined) await bringForwardRequests(db, appId, lastSuccess);
  return {
    /** Deliveries that our events lack, and of which every attempt failed. */
    failed: failed.length,
    /** The same that GitHub calls successful, each counted once. */
    missing: newlyMissing.length,
    resolved,
    isReturn: news.length > newlyMissing.length && showsReturn(failed, lastSuccess),
  };
}
