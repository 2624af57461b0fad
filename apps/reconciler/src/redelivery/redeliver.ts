import { endRefusals, recordRefusal } from '@paddock/db/entities/refusals';
import {
  type ListedSpan,
  listedSpans,
  listingTimes,
  replaceListedSpans,
} from '@paddock/db/deliveries/delivery-listings';
import {
  bringForwardRequests,
  rememberFailedDeliveries,
  resolveDeliveries,
} from '@paddock/db/deliveries/redelivery';
import {
  findGivenUp,
  giveUpRedeliveries,
  handOverUnresolved,
} from '@paddock/db/deliveries/give-up-redeliveries';
import type { Database } from '@paddock/db/schema/tables';
import { wantExtraPasses } from '@paddock/db/schedules/extra-passes';
import { isRefusal } from '@paddock/domain/entities/refused-subject';
import { redeliverySchedule } from '@paddock/domain/tasks/schedule-names';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import type { Kysely } from 'kysely';
import { requestDueDeliveries } from './request-due-deliveries.ts';
import { countOnly } from '../count-only.ts';
import { type DeliveryAttempt, judgeLog, showsReturn } from './judge-delivery-log.ts';
import type { ReconcilerEvents } from '../events.ts';
import { findUnstored } from './find-unstored.ts';
import { findMissingDeliveries, type MissingDeliveries } from './missing-deliveries.ts';
import { isOutage } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import { nominalTick } from '../schedules/nominal-tick.ts';
import { type LogPage, type LogReading, readDeliveryLog } from './read-delivery-log.ts';

/** One App's delivery log at GitHub. */
export interface DeliveryLog {
  list(cursor: string | undefined): Promise<LogPage>;
  redeliver(deliveryId: string): Promise<void>;
}

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

export interface RedeliverCounts extends MissingDeliveries {
  pages: number;
  attempts: number;
  /** Attempts that GitHub held back because our endpoint was too slow. */
  throttled: number;
  failed: number;
  resolved: number;
  /** In a dry run: the requests that would be made. */
  accepted: number;
  refused: number;
  givenUp: number;
  /** Repositories handed to discovery, since too many deliveries are unresolved. */
  handedOver: number;
  listed: boolean;
  /** More deliveries are due than a minute's requests allow. */
  moreDue: boolean;
  /** GitHub asks us to wait this long, in milliseconds. No call is made before. */
  retryAfterMs?: number;
}

/** The last part of the log that an extra pass reads again: entries may enter the log this late. */
const EXTRA_WINDOW_MS = 60_000;

/** GitHub waits 10 s for an answer, so an attempt enters the log this late after our return. */
const LATE_MS = 12_000;

/**
 * Runs one redelivery cycle of one App: reads its log, remembers failed deliveries, forgets those
 * that got through, and asks GitHub to repeat the due ones. A listing that breaks off counts as far
 * as it went. Throws only PostgreSQL's errors.
 */
export async function redeliver(options: RedeliverOptions, pass: Pass): Promise<RedeliverCounts> {
  const { db, appId, log, everySeconds, windowMs, maxPages, giveUpMs } = options;
  const { signal, dryRun } = pass;
  const before = await listedSpans(db, appId);
  const { now, listedAt } = await listingTimes(db, appId);
  // The first pass of each cadence reads the whole window, extra passes only new entries.
  const isExtra = listedAt !== null && listedAt >= nominalTick(now, everySeconds);
  // The log's instants are GitHub's, whose clock may differ from ours: so the window goes by it.
  const firstPage = log.list(undefined);
  const clock = await firstPage.then(
    ({ answeredAt }) => answeredAt,
    () => undefined,
  );
  const reading = await readDeliveryLog({
    fetchPage: (cursor) => (cursor === undefined ? firstPage : log.list(cursor)),
    isCursorRefused: (error) => ['invalid', 'not_found'].includes(classifyGitHubError(error).kind),
    spans: before,
    now: clock ?? now,
    windowMs: isExtra ? EXTRA_WINDOW_MS : lookBackMs({ windowMs, everySeconds }),
    horizonMs: giveUpMs,
    maxPages,
    signal,
  });
  const failure = reading.error === undefined ? undefined : classifyGitHubError(reading.error);
  if (dryRun)
    return countOnly(db, (trx) =>
      act(withoutEffect(options, trx), { before, reading, failure }, pass),
    );
  if (reading.pages > 0) await endRefusals(db, { appId });
  if (failure !== undefined && !signal.aborted)
    await noteFailedListing(options, failure, reading.pages);
  if (failure !== undefined && isOutage(failure)) await pass.isAway('github');
  return act(options, { before, reading, failure }, pass);
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
  {
    before,
    reading,
    failure,
  }: { before: readonly ListedSpan[]; reading: LogReading; failure: GitHubFailure | undefined },
  pass: Pass,
): Promise<RedeliverCounts> {
  const { db, appId, events, giveUpMs, handOverAbove } = options;
  const { failed, resolved, isReturn } = await noteVerdict(db, appId, reading.attempts);
  const missing =
    before[0] === undefined
      ? { missing: 0 }
      : await findMissingDeliveries(options, reading.attempts, before[0].newestAt);
  // After the verdict: after a crash between the two, the next cycle reads these pages again.
  if (!pass.dryRun)
    await db.transaction().execute((trx) => replaceListedSpans(trx, appId, reading.spans));

  const handedOver = await handOverUnresolved(db, appId, handOverAbove);
  const givenUp = await giveUpRedeliveries(db, appId, giveUpMs);
  if (givenUp > 0) events.redeliveriesGivenUp(appId, givenUp);
  const retryAfterMs = failure?.retryAfterMs;
  const asked =
    retryAfterMs === undefined
      ? await requestDueDeliveries(options, pass)
      : { accepted: 0, refused: 0, moreDue: false, retryAfterMs };
  if (isReturn) await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LATE_MS });
  const { pages, attempts } = reading;
  const throttled = attempts.filter(({ isThrottled }) => isThrottled).length;
  const listed = failure === undefined;
  return {
    pages,
    attempts: attempts.length,
    throttled,
    failed,
    resolved,
    ...missing,
    ...asked,
    givenUp,
    handedOver,
    listed,
  };
}

/**
 * For a dry run: no requests, no events, and all writes go to a transaction that is rolled back.
 */
const withoutEffect = (options: RedeliverOptions, trx: Kysely<Database>): RedeliverOptions => ({
  ...options,
  db: trx,
  log: { ...options.log, redeliver: () => Promise.resolve() },
  events: {
    redelivered: () => undefined,
    redeliveryRefused: () => undefined,
    listingFailed: () => undefined,
    redeliveriesGivenUp: () => undefined,
    deliveredWithoutRow: () => undefined,
  },
});

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

async function noteVerdict(
  db: Kysely<Database>,
  appId: number,
  attempts: readonly DeliveryAttempt[],
): Promise<{ failed: number; resolved: number; isReturn: boolean }> {
  const { delivered, failed, lastSuccess } = judgeLog(attempts);
  const unstored = new Set(await findUnstored(db, failed, { countsReplays: false }));
  const givenUp = await findGivenUp(db, [...unstored]);
  const lost = failed.filter(({ guid }) => unstored.has(guid) && !givenUp.has(guid));
  const news = await rememberFailedDeliveries(db, appId, lost);
  const resolved = await resolveDeliveries(db, appId, delivered);
  if (lastSuccess !== undefined) await bringForwardRequests(db, appId, lastSuccess);
  return {
    failed: lost.length,
    resolved,
    isReturn: news > 0 && showsReturn({ failed: lost, lastSuccess }),
  };
}
