import { findUnresolved, recordRedeliveryRequest } from '@paddock/db/deliveries/redelivery';
import { type DeliveryBody, listDeliveries } from '@paddock/github/deliveries';
import { classifyGitHubError } from '@paddock/github/errors';
import { PER_PAGE } from '@paddock/github/read-answers';
import { done, type Outcome, poison, snooze } from '@paddock/queue/kind';
import { redeliverTask } from '@paddock/queue/sweep-schedules';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';
import { bringingOf } from './bring-delivery.ts';
import { logPages } from './delivery-log.ts';
import { passOverLog } from './pass-over-log.ts';

/** Until the next look after a refusal: each is an event, and GitHub bars callers that go on. */
const REFUSED_MS = 60_000;

const GITHUB_ASKS_TO_WAIT =
  'GitHub asks us to wait before we read its delivery log or request redeliveries';

/**
 * A pass over an App's log, or what a person asks for: one delivery, of one App or any, or all of an
 * App since an instant.
 */
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
  const from =
    since === undefined ? undefined : new Date(typeof since === 'string' ? since : Number.NaN);
  if (Number.isNaN(from?.getTime()))
    return poison('`since` is no instant: { "since": "2026-01-01T12:00:00Z" }');
  const app = github.asApp(appId, { signal: pass.signal });
  const { counts, isExtra, isRefused, retryAfterMs } = await passOverLog(context, app, from, pass);
  if (retryAfterMs !== undefined) return snooze(retryAfterMs, GITHUB_ASKS_TO_WAIT);
  const again = redeliverTask(appId);
  // The pages of this pass are used up: go on there. Or this minute's requests are: go on in the
  // next minute, not in the next cycle.
  if (counts.more && counts.listed) return done(counts, [{ ...again, payload }]);
  // One operation for each cadence is enough: the passes between leave none.
  const dueInMs = isRefused ? REFUSED_MS : config.logEveryMs;
  if (context.takesFromLog())
    return isExtra && from === undefined
      ? snooze(dueInMs, 'deliveries are taken from GitHub’s log')
      : done(counts, [{ ...again, dueInMs }]);
  const goesOn = counts.moreDue && config.redeliveryEverySeconds > 60;
  return done(counts, goesOn ? [{ ...again, dueInMs: 60_000 }] : []);
}

const notConfigured = (appId: string): Outcome =>
  poison(`App ${appId} is no longer in the configuration`);

/**
 * Has one delivery come again, by its GUID: its newest attempt that we know of, else the newest
 * one in an App's log. Twice asked for, it comes twice, and its rows are written once. Throws
 * GitHub's errors that may pass.
 */
async function redeliverDelivery(
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
