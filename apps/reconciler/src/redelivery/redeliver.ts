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
import { findStoredDeliveries } from '@paddock/db/events/append-events';
import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import { isRefusal } from '@paddock/domain/entities/refused-subject';
import { redeliverySchedule } from '@paddock/domain/tasks/sweep-names';
import type { RateBudget } from '@paddock/github/budget';
import type { AppClient } from '@paddock/github/connect';
import { listDeliveries } from '@paddock/github/deliveries';
import { classifyGitHubError, type GitHubFailure, isUnanswered } from '@paddock/github/errors';
import { done, type Outcome, poison, snooze } from '@paddock/queue/kind';
import type { Pass } from '../passes/pass.ts';
import { nominalTick } from '../schedules/nominal-tick.ts';
import { redeliverTask } from '@paddock/queue/sweep-schedules';
import type { SweepContext } from '../sweep.ts';
import { bringingOf } from './bring-delivery.ts';
import {
  hasArrived,
  judgeLog,
  type LogReading,
  readDeliveryLog,
  showsReturn,
} from './delivery-log.ts';
import { redeliverDelivery } from './redeliver-one.ts';

/** A pass over one App's log. */
interface OfApp {
  readonly appId: number;
  readonly app: AppClient;
  /** A person wants everything since then that our events lack, by GitHub's clock. */
  readonly since: Date | undefined;
}

/** The last part of the log that an extra pass reads again: entries may enter the log this late. */
const EXTRA_WINDOW_MS = 60_000;

/** The same where deliveries are taken from the log: its passes follow each other closely. */
const LOG_WINDOW_MS = 15_000;

/** Until the next look after a refusal: each is an event, and GitHub bars callers that go on. */
const REFUSED_MS = 60_000;

/** GitHub waits 10 s for an answer, so an attempt enters the log this late after our return. */
const LATE_MS = 12_000;

const GITHUB_ASKS_TO_WAIT =
  'GitHub asks us to wait before we read its delivery log or request redeliveries';

/** What people ask for: one delivery, of one App or any, or all of an App since an instant. */
export async function redeliver(context: SweepContext, pass: Pass): Promise<Outcome> {
  const { github, config } = context;
  const { subject, payload } = pass.task;
  const { guid, appId: named, since } = payload as Record<string, unknown>;
  if (typeof guid === 'string') {
    const appIds = github.appIds.filter((id) => named === undefined || named === id);
    if (appIds.length === 0) return notConfigured(String(named));
    return redeliverDelivery(context, { guid, appIds }, pass.signal);
  }
  const appId = Number(subject.id);
  if (!github.appIds.includes(appId)) return notConfigured(subject.id);
  const instant =
    since === undefined ? undefined : new Date(typeof since === 'string' ? since : Number.NaN);
  if (Number.isNaN(instant?.getTime()))
    return poison('`since` is no instant: { "since": "2026-01-01T12:00:00Z" }');
  const app = github.asApp(appId, { signal: pass.signal });
  const { retryAfterMs, isExtra, isRefused, ...counts } = await readAndAsk(
    context,
    { appId, app, since: instant },
    pass,
  );
  if (retryAfterMs !== undefined) return snooze(retryAfterMs, GITHUB_ASKS_TO_WAIT);
  const again = redeliverTask(appId);
  // The pages of this pass are used up: go on there. Or this minute's requests are: go on in the
  // next minute, not in the next cycle.
  if (counts.more && counts.listed) return done(counts, [{ ...again, payload }]);
  // One operation for each cadence is enough: the passes between leave none.
  const dueInMs = isRefused ? REFUSED_MS : config.logEveryMs;
  if (context.takesFromLog())
    return isExtra && instant === undefined
      ? snooze(dueInMs, 'deliveries are taken from GitHub’s log')
      : done(counts, [{ ...again, dueInMs }]);
  const goesOn = counts.moreDue && config.redeliveryEverySeconds > 60;
  return done(counts, goesOn ? [{ ...again, dueInMs: 60_000 }] : []);
}

const notConfigured = (appId: string): Outcome =>
  poison(`App ${appId} is no longer in the configuration`);

/**
 * Runs one pass over one App's delivery log by one rule: what our events lack is asked for. Reads
 * the log, remembers lost deliveries, forgets those that arrived, and asks GitHub to repeat the due
 * ones. A listing that breaks off counts as far as it went. Throws PostgreSQL's errors, and the
 * listing's if a person asked.
 */
async function readAndAsk(context: SweepContext, given: OfApp, pass: Pass) {
  const { db, config, newestPages } = context;
  const { appId, app, since } = given;
  const extraMs = context.takesFromLog() ? LOG_WINDOW_MS : EXTRA_WINDOW_MS;
  const everySeconds = config.redeliveryEverySeconds;
  const { mark, readAt, now, installedAt } = await readLogMark(db, appId);
  const isRead = since === undefined || (mark.readTo !== null && mark.readTo <= since);
  // The first pass of each cadence reads the whole window, extra passes only new entries.
  const isExtra = readAt !== null && readAt >= nominalTick(now, everySeconds);
  // The log's instants are GitHub's, whose clock may differ from ours: so the window goes by it.
  const known = newestPages.get(appId);
  const firstPage = listDeliveries(app, known === undefined ? {} : { known });
  const clock = await firstPage.then(
    (page) => {
      newestPages.set(appId, page);
      return page.answeredAt;
    },
    () => undefined,
  );
  const reading = await readDeliveryLog({
    list: (cursor) => (cursor === undefined ? firstPage : listDeliveries(app, { cursor })),
    mark: isRead ? mark : { readTo: since },
    now: clock ?? now,
    windowMs: isExtra ? extraMs : lookBackMs(config.logWindowMs, everySeconds),
    horizonMs: config.giveUpAfterMs,
    maxPages: config.logPagesOfPass,
    signal: pass.signal,
  });
  const failure = reading.error === undefined ? undefined : classifyGitHubError(reading.error);
  if (reading.pages > 0) await endRefusals(db, { appId });
  if (failure !== undefined && !pass.signal.aborted)
    await noteFailedListing(context, appId, { failure, pages: reading.pages });
  if (failure !== undefined && isUnanswered(failure)) await pass.isAway('github');
  const counts = await act(context, given, { reading, failure, installedAt }, pass);
  if (since !== undefined && reading.error !== undefined) throw reading.error;
  return { ...counts, isExtra };
}

/**
 * How far back the first pass of a cadence reads: past two failed cadences, even if `windowMs` is
 * short.
 */
export const lookBackMs = (windowMs: number, everySeconds: number): number =>
  Math.max(windowMs, 3 * everySeconds * 1000);

interface Read {
  readonly reading: LogReading;
  readonly failure: GitHubFailure | undefined;
  /** Since when there is this environment. */
  readonly installedAt: Date;
}

/** Everything after reading the log. */
async function act(
  context: SweepContext,
  given: OfApp,
  { reading, failure, installedAt }: Read,
  pass: Pass,
) {
  const { db, events, config } = context;
  const { appId } = given;
  const { isReturn, ...verdict } = await noteVerdict(context, given, reading, installedAt);
  // After the verdict: after a crash between the two, the next pass reads these pages again.
  if (reading.pages > 0) await storeLogMark(db, appId, reading.mark);

  const handedOver = await handOverUnresolved(db, appId, config.handOverAbove);
  const givenUp = await giveUpRedeliveries(db, appId, config.giveUpAfterMs);
  if (givenUp > 0) events.redeliveriesGivenUp(appId, givenUp);
  const retryAfterMs = failure?.retryAfterMs;
  const isRefused = isAppRefused(reading.pages, failure);
  const asked =
    retryAfterMs === undefined && !isRefused
      ? await requestDueDeliveries(context, given, pass)
      : {
          accepted: 0,
          refused: 0,
          moreDue: false,
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        };
  if (isReturn) await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LATE_MS });
  const { pages, attempts, mark } = reading;
  return {
    pages,
    attempts: attempts.length,
    /** Attempts that GitHub held back because our endpoint was too slow. */
    throttled: attempts.filter(({ isThrottled }) => isThrottled).length,
    ...verdict,
    ...asked,
    isRefused,
    givenUp,
    /** Repositories handed to discovery, since too many deliveries are unresolved. */
    handedOver,
    listed: failure === undefined,
    /** The log is not yet read down to where it has to be: the next pass goes on there. */
    more: mark.rest !== undefined,
  };
}

/** After one good page, a refused one is not about our credentials. */
const isAppRefused = (pages: number, failure: GitHubFailure | undefined): boolean =>
  pages === 0 && failure !== undefined && isRefusal(failure);

async function noteFailedListing(
  { db, events }: SweepContext,
  appId: number,
  { failure, pages }: { failure: GitHubFailure; pages: number },
): Promise<void> {
  // The call that GitHub asked to wait has logged it.
  if (failure.kind === 'rate_limited') return;
  events.listingFailed(appId, failure);
  if (!isAppRefused(pages, failure)) return;
  await recordRefusal(db, 'reconciler', { call: { appId }, refusal: failure });
}

/** The rule: each delivery of the part that was to be read, whose event we lack, is asked for. */
async function noteVerdict(
  { db, events, takesFromLog }: SweepContext,
  { appId, since }: OfApp,
  reading: LogReading,
  installedAt: Date,
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
    /** Deliveries that our events lack, and that no attempt got through of. */
    failed: failed.length,
    /** The same that GitHub calls successful, each counted once. */
    missing: newlyMissing.length,
    resolved,
    isReturn: news.length > newlyMissing.length && showsReturn(failed, lastSuccess),
  };
}

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
async function requestDueDeliveries(
  context: SweepContext,
  given: OfApp,
  pass: Pass,
): Promise<Requests> {
  const { db, config, github, takesFromLog } = context;
  const { appId } = given;
  const perMinute = takesFromLog()
    ? Math.min(config.logReadsPerMinute, spendable(github.budgetOf(`app ${appId}`)))
    : config.redeliveryRequestsPerMinute;
  // A tenth of the cycle: cycles are not exactly even, and no request may slip into the next one.
  const { due, moreDue, othersWait } = await findDueRedeliveries(db, appId, {
    perMinute,
    earlyMs: config.redeliveryEverySeconds * 100,
    cycleMs: config.redeliveryEverySeconds * 1000,
  });
  const asked = await request(context, given, due, pass);
  if (othersWait && asked.accepted > 0)
    await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LOGGED_AFTER_MS });
  return { ...asked, moreDue: moreDue && asked.retryAfterMs === undefined };
}

/** A tenth of an App's calls is for its list of deliveries, and for the tokens of installations. */
const spendable = (budget: RateBudget | undefined): number =>
  budget === undefined || budget.resetAt < Date.now()
    ? Infinity
    : Math.max(0, budget.remaining - Math.ceil(budget.limit / 10));

/**
 * Brings every due delivery: installations take turns. A failure concerns only its delivery, but
 * once GitHub asks us to wait, the rest stays due.
 */
async function request(
  context: SweepContext,
  { appId, app }: OfApp,
  due: readonly DueRedelivery[],
  pass: Pass,
): Promise<Omit<Requests, 'moreDue'>> {
  const { db, events } = context;
  const { redeliverySpacingMs: firstStepMs } = context.config;
  const { ask, store } = bringingOf(context);
  const counts = { accepted: 0, refused: 0 };
  let retryAfterMs: number | undefined;
  await pass.walk(due, {
    entityOf: ({ installationId }) => installationId ?? 0,
    async visit(one, turn) {
      turn.isUnasked = retryAfterMs !== undefined;
      if (turn.isUnasked) return false;
      const { failure, body } = await ask(app, one).then(
        (answer) => ({ failure: undefined, body: answer }),
        (error: unknown) => ({ failure: classifyGitHubError(error), body: undefined }),
      );
      if (failure === undefined) {
        counts.accepted++;
        if (body === undefined) events.redelivered(appId, one.guid);
        else await store(appId, one.guid, body);
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
      if (!turn.isUnasked && isUnanswered(failure)) turn.isUnasked = await pass.isAway('github');
      return isOver;
    },
    postpone: ({ guid }) =>
      recordRedeliveryRequest(db, appId, { guid, deliveryId: null }, firstStepMs),
  });
  return retryAfterMs === undefined ? counts : { ...counts, retryAfterMs };
}
