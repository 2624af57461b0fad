import { findUnresolved, recordRedeliveryRequest } from '@paddock/db/deliveries/redelivery';
import type { Database } from '@paddock/db/schema/tables';
import { classifyGitHubError } from '@paddock/github/errors';
import { done, type Outcome, poison } from '@paddock/queue/outcome';
import type { Kysely } from 'kysely';
import { type DeliveryLog, logPages } from './delivery-log.ts';

export interface RedeliverDeliveryOptions {
  db: Kysely<Database>;
  /** The Apps whose logs may have it. */
  appIds: readonly number[];
  logOf: (appId: number) => DeliveryLog;
  /** Most pages of one log. */
  maxPages: number;
  /** As for the passes, which ask again for a delivery that stays unresolved. */
  firstStepMs: number;
}

/**
 * Has GitHub repeat one delivery, by its GUID: its newest attempt that we know of, else the newest
 * one in an App's log. Asked twice, GitHub sends it twice, and its rows are written once. Throws
 * GitHub's errors that may pass.
 */
export async function redeliverDelivery(
  options: RedeliverDeliveryOptions,
  guid: string,
): Promise<Outcome> {
  const { db, appIds, logOf, firstStepMs } = options;
  const attempt = (await findUnresolved(db, guid, appIds)) ?? (await findInLogs(options, guid));
  if (attempt === undefined)
    return poison(`no App's log has the delivery ${guid}: GitHub keeps deliveries for three days`);
  const { appId, deliveryId } = attempt;
  try {
    await logOf(appId).redeliver(deliveryId);
  } catch (error) {
    const { kind, message } = classifyGitHubError(error);
    if (kind === 'invalid' || kind === 'not_found')
      return poison(`GitHub does not repeat the delivery: ${message}`);
    throw error;
  }
  await recordRedeliveryRequest(db, appId, attempt, firstStepMs);
  return done(attempt);
}

/** The newest attempt in the log of the first App that has one. */
async function findInLogs(
  { appIds, logOf, maxPages }: RedeliverDeliveryOptions,
  guid: string,
): Promise<{ guid: string; appId: number; deliveryId: string } | undefined> {
  for (const appId of appIds) {
    let pages = 0;
    for await (const { deliveries } of logPages(logOf(appId).list, undefined)) {
      const found = deliveries.find((one) => one.guid === guid);
      if (found !== undefined) return { guid, appId, deliveryId: found.id };
      if (++pages >= maxPages) break;
    }
  }
  return undefined;
}
