import { executorRules } from '@paddock/queue/executor-settings';
import type { Kinds } from '@paddock/queue/kind';
import { done, type Outcome, poison, snooze } from '@paddock/queue/outcome';
import { recoverTasks } from '@paddock/queue/recover-tasks';
import type { Service } from '@paddock/runtime/reach';
import { jobSweeps } from './jobs/job-sweeps.ts';
import { deliveryLogAtGitHub } from './redelivery/delivery-log.ts';
import { redeliverDelivery } from './redelivery/redeliver-delivery.ts';
import { redeliver } from './redelivery/redeliver.ts';
import { redeliverTask, sweepTask } from './schedules/sweep-schedules.ts';
import { kindsOf, type Sweep, type SweepContext } from './sweep.ts';
import { checkApps } from './upkeep/check-apps.ts';
import { upkeep } from './upkeep/upkeep.ts';
import { workerSweeps } from './workers/worker-sweeps.ts';

/**
 * What sweeps cannot do without. All others work on rows; `check-workers` does so too for what it
 * can while GitHub is away.
 */
const NEEDS: Readonly<Record<string, readonly Service[]>> = {
  'look-up-jobs': ['github'],
  'discover-jobs': ['github'],
  'check-apps': ['github'],
  redeliver: ['github'],
  'remove-registrations': ['github', 'cluster'],
  'check-runner-versions': ['github', 'cluster'],
  'delete-ended-pods': ['cluster'],
};

/** All sweeps of this process, by kind of task. */
export const sweepKinds = (context: SweepContext): Kinds =>
  kindsOf(
    context,
    Object.fromEntries(
      Object.entries(sweeps(context)).map(([name, sweep]) => [
        name,
        { ...sweep, needs: NEEDS[name] ?? [] },
      ]),
    ),
  );

/** Most tasks that one pass frees. */
const ROWS_OF_RECOVERY = 250;

/** How far back each pass reads the delivery log. */
const LOG_WINDOW_MS = 900_000;
/** Most pages of 100 deliveries in one pass. The next pass reads the rest. */
const MOST_PAGES = 100;
/** GitHub keeps deliveries for three days. */
const GIVE_UP_AFTER_MS = 72 * 3_600_000;
/** With more unresolved deliveries of an App, discovery takes their repositories first. */
const HAND_OVER_ABOVE = 500;

/** A pass with as much of each part of upkeep ends well within its task's time. */
const UPKEEP = { batch: 1_000, maxBatches: 100, maxHours: 200 };

const GITHUB_ASKS_TO_WAIT =
  'GitHub asks us to wait before we read its delivery log or request redeliveries';

const notConfigured = (appId: string): Outcome =>
  poison(`App ${appId} is no longer in the configuration`);

/** What a person asks of `redeliver`: one delivery, of one App or any, or all since an instant. */
function readAsked(payload: unknown): { guid?: string; appId?: unknown; since?: Date } {
  const { guid, appId, since } = Object(payload) as Record<string, unknown>;
  return {
    ...(typeof guid === 'string' ? { guid, appId } : {}),
    ...(since === undefined
      ? {}
      : { since: new Date(typeof since === 'string' ? since : Number.NaN) }),
  };
}

function sweeps(context: SweepContext): Readonly<Record<string, Sweep>> {
  const { db, github, config, events, taskEvents } = context;
  return {
    ...jobSweeps(context),
    ...workerSweeps(context),
    redeliver: {
      slots: 2,
      pass: async (pass) => {
        const { subject, payload } = pass.task;
        const { guid, appId: named, since } = readAsked(payload);
        const logOf = (appId: number) => deliveryLogAtGitHub(github, appId, pass.signal);
        const always = { db, maxPages: MOST_PAGES, firstStepMs: config.redeliverySpacingMs };
        if (guid !== undefined) {
          const appIds = github.appIds.filter((id) => named === undefined || named === id);
          if (appIds.length === 0) return notConfigured(String(named));
          return redeliverDelivery({ ...always, appIds, logOf }, guid);
        }
        const appId = Number(subject.id);
        if (!github.appIds.includes(appId)) return notConfigured(subject.id);
        if (since !== undefined && Number.isNaN(since.getTime()))
          return poison('`since` is no instant: { "since": "2026-01-01T12:00:00Z" }');
        const everySeconds = config.redeliveryEverySeconds;
        const { retryAfterMs, ...counts } = await redeliver(
          {
            ...always,
            appId,
            log: logOf(appId),
            events,
            since,
            everySeconds,
            windowMs: LOG_WINDOW_MS,
            perMinute: config.redeliveryRequestsPerMinute,
            giveUpMs: GIVE_UP_AFTER_MS,
            handOverAbove: HAND_OVER_ABOVE,
          },
          pass,
        );
        if (retryAfterMs !== undefined) return snooze(retryAfterMs, GITHUB_ASKS_TO_WAIT);
        const again = redeliverTask(appId);
        // The pages of this pass are used up: go on there. Or this minute's requests are: go on in
        // the next minute, not in the next cycle.
        if (counts.more && counts.listed) return done(counts, [{ ...again, payload }]);
        const goesOn = counts.moreDue && everySeconds > 60;
        return done(counts, goesOn ? [{ ...again, dueInMs: 60_000 }] : []);
      },
    },
    'check-apps': {
      slots: 1,
      pass: async (pass) => {
        const { installationsGoneAtMost: goneAtMost } = config;
        const { waitMs, ...counts } = await checkApps({ db, github, events, goneAtMost }, pass);
        return done(counts, waitMs > 0 ? [{ ...sweepTask('check-apps'), dueInMs: waitMs }] : []);
      },
    },
    upkeep: {
      slots: 1,
      pass: async ({ signal }) => {
        const { counts, failed, isMore } = await upkeep({ db, config, signal, ...UPKEEP });
        if (failed.length > 0) throw new Error(failed.join('; '));
        return done(counts, isMore ? [sweepTask('upkeep')] : []);
      },
    },
    'recover-tasks': {
      slots: 1,
      pass: async () => {
        const options = { batch: ROWS_OF_RECOVERY, keep: executorRules(config).keep };
        const { found, requeued, ended, full } = await recoverTasks(db, options);
        events.tasksRecovered(requeued + ended.length);
        for (const task of ended) taskEvents.taskCrashed(task);
        // After a full batch there may be more, and they have waited long enough.
        return done(
          { found, requeued, ended: ended.length },
          full ? [sweepTask('recover-tasks')] : [],
        );
      },
    },
  };
}
