import { done, type Outcome, poison, snooze } from '@paddock/queue/kind';
import { redeliverTask } from '@paddock/queue/sweep-schedules';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';
import { passOverLog } from './pass-over-log.ts';
import { redeliverDelivery } from './redeliver-one.ts';

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
  const instant =
    since === undefined ? undefined : new Date(typeof since === 'string' ? since : Number.NaN);
  if (Number.isNaN(instant?.getTime()))
    return poison('`since` is no instant: { "since": "2026-01-01T12:00:00Z" }');
  const app = github.asApp(appId, { signal: pass.signal });
  const { counts, ...went } = await passOverLog(context, app, instant, pass);
  const { isExtra, isRefused, retryAfterMs } = went;
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
