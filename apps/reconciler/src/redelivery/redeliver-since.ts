import { askForMissingDeliveries } from '@paddock/db/deliveries/redelivery';
import type { Database } from '@paddock/db/schema/tables';
import { classifyGitHubError } from '@paddock/github/errors';
import type { Kysely } from 'kysely';
import { type DeliveryAttempt, missingSince, oneOfEach } from './judge-delivery-log.ts';
import type { ReconcilerEvents } from '../events.ts';
import { findUnstored } from './find-unstored.ts';
import { CutOffLogError } from './read-delivery-log.ts';
import type { DeliveryLog } from './redeliver.ts';

export interface RedeliverSinceOptions {
  db: Kysely<Database>;
  appId: number;
  log: Pick<DeliveryLog, 'list'>;
  events: Pick<ReconcilerEvents, 'listingFailed'>;
  /** Begin of the deliveries to check, by GitHub's clock. */
  since: Date;
  /** Where an earlier pass stopped. Undefined: begin at the newest entry. */
  cursor: string | undefined;
  maxPages: number;
  /** Only counts. */
  dryRun: boolean;
}

export interface RedeliverSinceCounts {
  pages: number;
  attempts: number;
  /** Deliveries that our events lack and that are due now. */
  missing: number;
  /** Where the next pass goes on; absent once the log was read down to `since`. */
  cursor?: string;
}

/**
 * Finds every delivery since an instant that our events lack, even if GitHub calls it delivered.
 * The ordinary cycles request them until their rows exist. For after a restore, or after another
 * endpoint answered in our place.
 *
 * If a page fails, the pages before it count and `cursor` says where to go on; the first page's
 * error is thrown. Throws CutOffLogError, after writing, if GitHub gave no cursor for the rest.
 */
export async function redeliverSince(
  options: RedeliverSinceOptions,
  signal: AbortSignal,
): Promise<RedeliverSinceCounts> {
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

/** Reads the payload of a `redeliver-since` task. Undefined if it names no instant. */
export function readSince(
  payload: unknown,
): { since: Date; cursor: string | undefined } | undefined {
  if (
    typeof payload !== 'object' ||
    payload === null ||
    !('since' in payload) ||
    typeof payload.since !== 'string'
  )
    return undefined;
  const since = new Date(payload.since);
  if (Number.isNaN(since.getTime())) return undefined;
  return {
    since,
    cursor: 'cursor' in payload && typeof payload.cursor === 'string' ? payload.cursor : undefined,
  };
}
