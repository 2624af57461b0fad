import { recordAppAuthFailure } from '@paddock/db/entities/app-auth-failures';
import { type ListedStretch, listedStretches, listingTimes, replaceListedStretches } from '@paddock/db/deliveries/delivery-listings';
import { bringForwardRequests, rememberFailedDeliveries, resolveDeliveries } from '@paddock/db/deliveries/redelivery';
import { findGivenUp, giveUpRedeliveries, handOverUnresolved } from '@paddock/db/deliveries/give-up-redeliveries';
import type { Database } from '@paddock/db/schema/tables';
import { wantExtraPasses } from '@paddock/db/schedules/extra-passes';
import { redeliverySchedule } from '@paddock/domain/tasks/redelivery-schedule';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import type { Kysely } from 'kysely';
import { askAgain } from './ask-again.ts';
import { countOnly } from '../count-only.ts';
import { type DeliveryAttempt, judgeLog, showsReturn } from './delivery-log.ts';
import type { ReconcilerEvents } from '../events.ts';
import { findUnstored } from './find-unstored.ts';
import { findMissingDeliveries, type MissingDeliveries } from './missing-deliveries.ts';
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
  events: Pick<ReconcilerEvents, 'redelivered' | 'redeliveryRefused' | 'listingFailed' | 'redeliveriesGivenUp' | 'deliveredWithoutRow'>;
  /** How often this runs. */
  everySeconds: number;
  windowMs: number;
  maxPages: number;
  perMinute: number;
  firstStepMs: number;
  giveUpMs: number;
  /** With more unresolved deliveries than that their repositories go to discovery first. */
  handOverAbove: number;
  /** Only reads the log: `accepted` counts the requests that would be made. */
  dryRun: boolean;
}

export interface RedeliverCounts extends MissingDeliveries {
  pages: number;
  attempts: number;
  /** Attempts that GitHub held back for the rate of our endpoint. */
  throttled: number;
  failed: number;
  resolved: number;
  accepted: number;
  refused: number;
  givenUp: number;
  /** Repositories that discovery is to look at, for there are too many to ask for one by one. */
  handedOver: number;
  listed: boolean;
  /** More deliveries are due than a minute's requests allow. */
  moreDue: boolean;
  /** GitHub asks us to come back only then, in milliseconds: nothing is asked of it before. */
  retryAfterMs?: number;
}

/** What an extra look reads again of what was listed already: entries of these last seconds may come late into the log. */
const EXTRA_WINDOW_MS = 60_000;

/** GitHub waits 10 s for an answer, so what was under way when our endpoint came back is in the log so much later. */
const LATE_MS = 12_000;

/**
 * One redelivery cycle of one App (E1): reads its log, remembers what failed, forgets what got through, and asks GitHub to repeat what is
 * due. A listing that fails half-way counts as far as it went. Throws for PostgreSQL's errors only.
 */
export async function redeliver(options: RedeliverOptions, signal: AbortSignal): Promise<RedeliverCounts> {
  const { db, appId, log, everySeconds, windowMs, maxPages, giveUpMs, dryRun } = options;
  const before = await listedStretches(db, appId);
  const { now, listedAt } = await listingTimes(db, appId);
  // The first look of each cadence goes through the whole window, further ones only through what is new.
  const isExtra = listedAt !== null && listedAt >= nominalTick(now, everySeconds);
  // The log tells its own time, which may be another than ours: what is looked for in it goes by its clock.
  const firstPage = log.list(undefined);
  const clock = await firstPage.then(
    ({ answeredAt }) => answeredAt,
    () => undefined,
  );
  const reading = await readDeliveryLog({
    fetchPage: (cursor) => (cursor === undefined ? firstPage : log.list(cursor)),
    isCursorRefused: (error) => ['invalid', 'not_found'].includes(classifyGitHubError(error).kind),
    stretches: before,
    now: clock ?? now,
    windowMs: isExtra ? EXTRA_WINDOW_MS : lookBackMs({ windowMs, everySeconds }),
    horizonMs: giveUpMs,
    maxPages,
    signal,
  });
  const failure = reading.error === undefined ? undefined : classifyGitHubError(reading.error);
  if (dryRun) return countOnly(db, (trx) => act(withoutEffect(options, trx), { before, reading, failure }, signal));
  if (failure !== undefined && !signal.aborted) await noteFailedListing(options, failure, reading.pages);
  return act(options, { before, reading, failure }, signal);
}

/** How far back the first look of a cadence goes: two cadences that failed leave nothing out, however short the window. */
export const lookBackMs = ({ windowMs, everySeconds }: Pick<RedeliverOptions, 'windowMs' | 'everySeconds'>): number =>
  Math.max(windowMs, 3 * everySeconds * 1000);

/** Everything after the log was read. */
async function act(
  options: RedeliverOptions,
  { before, reading, failure }: { before: readonly ListedStretch[]; reading: LogReading; failure: GitHubFailure | undefined },
  signal: AbortSignal,
): Promise<RedeliverCounts> {
  const { db, appId, events, giveUpMs, handOverAbove, dryRun } = options;
  const { failed, resolved, isReturn } = await noteVerdict(db, appId, reading.attempts);
  const missing = before[0] === undefined ? { missing: 0 } : await findMissingDeliveries(options, reading.attempts, before[0].newestAt);
  // After the verdict: a crash between the two has the log read again, never less of it.
  if (!dryRun) await db.transaction().execute((trx) => replaceListedStretches(trx, appId, reading.stretches));

  const handedOver = await handOverUnresolved(db, appId, handOverAbove);
  const givenUp = await giveUpRedeliveries(db, appId, giveUpMs);
  if (givenUp > 0) events.redeliveriesGivenUp(appId, givenUp);
  const retryAfterMs = failure?.retryAfterMs;
  const asked = retryAfterMs === undefined ? await askAgain(options, signal) : { accepted: 0, refused: 0, moreDue: false, retryAfterMs };
  if (isReturn) await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LATE_MS });
  const { pages, attempts } = reading;
  const throttled = attempts.filter(({ isThrottled }) => isThrottled).length;
  const listed = failure === undefined;
  return { pages, attempts: attempts.length, throttled, failed, resolved, ...missing, ...asked, givenUp, handedOver, listed };
}

/** For a dry run: nobody is asked or told, and what is written goes to a transaction that is rolled back. */
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

async function noteFailedListing({ db, appId, events }: RedeliverOptions, failure: GitHubFailure, pages: number): Promise<void> {
  // A wait was told where it began.
  if (failure.kind === 'rate_limited') return;
  events.listingFailed(appId, failure);
  // Where one page was had, a later one that is refused says nothing of our credentials.
  if (pages > 0 || !['unauthorized', 'forbidden', 'not_found'].includes(failure.kind)) return;
  const { operation, message, status = 0 } = failure;
  await recordAppAuthFailure(db, { appId, operation, message, httpStatus: status });
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
  return { failed: lost.length, resolved, isReturn: news > 0 && showsReturn({ failed: lost, lastSuccess }) };
}
