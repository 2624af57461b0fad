import { findUnresolved, type Unresolved } from '@paddock/db/deliveries/find-unresolved';
import { recordRedeliveryRequest } from '@paddock/db/deliveries/redelivery';
import type { Database } from '@paddock/db/schema/tables';
import { classifyGitHubError } from '@paddock/github/errors';
import { done, type Outcome, poison } from '@paddock/queue/outcome';
import type { Kysely } from 'kysely';
import type { DeliveryLog } from './redeliver.ts';
import { requestSpacingMs } from './request-spacing.ts';

export interface RedeliverDeliveryOptions {
  db: Kysely<Database>;
  /** The Apps whose logs may have it. */
  appIds: readonly number[];
  logOf: (appId: number) => DeliveryLog;
  maxPages: number;
  /** As for `redeliver`, which asks again for a delivery that stays unresolved. */
  firstStepMs: number;
  dryRun: boolean;
}

/**
 * Has GitHub repeat one delivery, by its GUID: its newest attempt that we know of, else the newest
 * one in an App's log. Asked twice, GitHub sends it twice, and its rows are written once. Throws
 * GitHub's errors that may pass.
 */
export async function redeliverDelivery(
  options: RedeliverDeliveryOptions,
  guid: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const { db, appIds, logOf, firstStepMs, dryRun } = options;
  const unresolved = await findUnresolved(db, guid, appIds);
  const attempt = unresolved ?? (await findInLogs(options, guid, signal));
  if (attempt === undefined)
    return poison(`no App's log has the delivery ${guid}: GitHub keeps deliveries for three days`);
  const { appId, deliveryId } = attempt;
  if (dryRun) return done({ appId, deliveryId });
  try {
    await logOf(appId).redeliver(deliveryId);
  } catch (error) {
    const { kind, message } = classifyGitHubError(error);
    if (kind === 'invalid' || kind === 'not_found')
      return poison(`GitHub does not repeat the delivery: ${message}`);
    throw error;
  }
  if (unresolved !== undefined) {
    const waitMs = requestSpacingMs(unresolved.requests + 1, firstStepMs);
    await recordRedeliveryRequest(db, appId, { guid, deliveryId }, waitMs);
  }
  return done({ appId, deliveryId });
}

/** The newest attempt in the log of the first App that has one. */
async function findInLogs(
  { appIds, logOf, maxPages }: RedeliverDeliveryOptions,
  guid: string,
  signal: AbortSignal,
): Promise<Omit<Unresolved, 'requests'> | undefined> {
  for (const appId of appIds) {
    const log = logOf(appId);
    let cursor: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      signal.throwIfAborted();
      const { deliveries, nextCursor } = await log.list(cursor);
      const found = deliveries.find((one) => one.guid === guid);
      if (found !== undefined) return { appId, deliveryId: found.id };
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
  }
  return undefined;
}
