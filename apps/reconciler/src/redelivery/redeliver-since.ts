import { askForMissingDeliveries } from '@paddock/db/deliveries/redelivery';
import type { Database } from '@paddock/db/schema/tables';
import { classifyGitHubError } from '@paddock/github/errors';
import type { Kysely } from 'kysely';
import { type DeliveryAttempt, missingSince, oneOfEach } from './delivery-log.ts';
import type { ReconcilerEvents } from '../events.ts';
import { findUnstored } from './find-unstored.ts';
import { CutOffLogError } from './read-delivery-log.ts';
import type { DeliveryLog } from './redeliver.ts';

export interface RedeliverSinceOptions {
  db: Kysely<Database>;
  appId: number;
  log: Pick<DeliveryLog, 'list'>;
  events: Pick<ReconcilerEvents, 'listingFailed'>;
  /** Deliveries from then on, by GitHub's clock. */
  since: Date;
  /** Where an earlier pass stopped; from the newest entry on if absent. */
  cursor: string | undefined;
  maxPages: number;
  /** Only counts. */
  dryRun: boolean;
}

export interface RedeliverSinceCounts {
  pages: number;
  attempts: number;
  /** Deliveries that our events lack, and that are asked for now. */
  missing: number;
  /** Where the next pass goes on; absent when the log was read down to `since`. */
  cursor?: string;
}

/**
 * Finds every delivery since an instant that our own events lack, those too that GitHub calls delivered, and has them asked for by the
 * ordinary cycles, until their rows are here (E1): after a restore, or when something before us answered in our place. What was read
 * counts although a later page fails; then this throws if nothing was read, and goes on from the cursor otherwise. Where GitHub does not say
 * how the log goes on, it throws once everything is written down.
 */
export async function redeliverSince(options: RedeliverSinceOptions, signal: AbortSignal): Promise<RedeliverSinceCounts> {
  const { db, appId, log, events, since, maxPages, dryRun } = options;
  const attempts: DeliveryAttempt[] = [];
  let cursor = options.cursor;
  let pages = 0;
  let isComplete = false;
  let isCutOff = false;
  while (!isComplete && !isCutOff && pages < maxPages && !signal.aborted) {
    try {
      const page = await log.list(cursor);
      pages++;
      attempts.push(...page.deliveries);
      const isReached = page.deliveries.some(({ deliveredAt }) => deliveredAt < since);
      isCutOff = page.isCutOff === true && !isReached;
      isComplete = isReached || (page.nextCursor === undefined && !isCutOff);
      cursor = page.nextCursor;
    } catch (error) {
      if (pages === 0) throw error;
      events.listingFailed(appId, classifyGitHubError(error));
      break;
    }
  }
  const wanted = attempts.filter(({ deliveredAt }) => deliveredAt >= since);
  const unstored = new Set(await findUnstored(db, oneOfEach(wanted), { countsReplays: true }));
  const missing = missingSince(wanted, (guid) => unstored.has(guid));
  if (!dryRun) await askForMissingDeliveries(db, appId, missing);
  if (isCutOff) throw new CutOffLogError();
  const counts = { pages, attempts: wanted.length, missing: missing.length };
  return isComplete || cursor === undefined ? counts : { ...counts, cursor };
}

/** Reads the payload of such a task; undefined if it names no instant. */
export function readSince(payload: unknown): { since: Date; cursor: string | undefined } | undefined {
  if (typeof payload !== 'object' || payload === null || !('since' in payload) || typeof payload.since !== 'string') return undefined;
  const since = new Date(payload.since);
  if (Number.isNaN(since.getTime())) return undefined;
  return { since, cursor: 'cursor' in payload && typeof payload.cursor === 'string' ? payload.cursor : undefined };
}
