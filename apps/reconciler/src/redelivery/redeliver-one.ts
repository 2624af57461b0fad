import { findUnresolved, recordRedeliveryRequest } from '@paddock/db/deliveries/redelivery';
import { type DeliveryBody, listDeliveries } from '@paddock/github/deliveries';
import { classifyGitHubError } from '@paddock/github/errors';
import { PER_PAGE } from '@paddock/github/read-answers';
import { done, type Outcome, poison } from '@paddock/queue/kind';
import type { SweepContext } from '../sweep.ts';
import { bringingOf } from './bring-delivery.ts';
import { logPages } from './delivery-log.ts';

/**
 * Has one delivery come again, by its GUID: its newest attempt that we know of, else the newest
 * one in an App's log. Twice asked for, it comes twice, and its rows are written once. Throws
 * GitHub's errors that may pass.
 */
export async function redeliverDelivery(
  context: SweepContext,
  { guid, appIds }: { readonly guid: string; readonly appIds: readonly number[] },
  signal: AbortSignal,
): Promise<Outcome> {
  const { db, github, config } = context;
  const attempt =
    (await findUnresolved(db, guid, appIds)) ?? (await findInLogs(context, guid, appIds, signal));
  if (typeof attempt === 'string') return poison(attempt);
  const { appId } = attempt;
  const { ask, store } = bringingOf(context);
  let body: DeliveryBody | undefined;
  try {
    body = await ask(github.asApp(appId, { signal }), attempt);
  } catch (error) {
    const { kind, message } = classifyGitHubError(error);
    if (kind === 'invalid' || kind === 'not_found')
      return poison(`GitHub does not repeat the delivery: ${message}`);
    throw error;
  }
  if (body !== undefined) await store(appId, guid, body);
  await recordRedeliveryRequest(db, appId, attempt, config.redeliverySpacingMs);
  return done(attempt);
}

/**
 * The newest attempt in the log of the first App that has one, or why there is none. Throws GitHub's
 * errors if it may be in a log that could not be read.
 */
async function findInLogs(
  { github, config: { logPagesOfPass: most } }: SweepContext,
  guid: string,
  appIds: readonly number[],
  signal: AbortSignal,
): Promise<{ guid: string; appId: number; deliveryId: string } | string> {
  let failure: { readonly error: unknown } | undefined;
  let isCut = false;
  for (const appId of appIds) {
    let pages = 0;
    const app = github.asApp(appId, { signal });
    const list = (cursor: string | undefined) => listDeliveries(app, { cursor });
    try {
      for await (const { deliveries, nextCursor } of logPages(list, undefined)) {
        const found = deliveries.find((one) => one.guid === guid);
        if (found !== undefined) return { guid, appId, deliveryId: found.id };
        isCut ||= ++pages === most && nextCursor !== undefined;
        if (pages === most) break;
      }
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure !== undefined) throw failure.error;
  return isCut
    ? `the delivery ${guid} is not among the newest ${most * PER_PAGE} deliveries: \`redeliver-since\` reads further back`
    : `no App's log has the delivery ${guid}: GitHub keeps deliveries for three days`;
}
