import { classifyGitHubError } from '@paddock/github/errors';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { executorRules } from '@paddock/queue/executor-settings';
import type { Kinds } from '@paddock/queue/kind';
import { done, type Outcome, poison, snooze } from '@paddock/queue/outcome';
import { recoverTasks } from '@paddock/queue/recover';
import { actOrCount } from './count-only.ts';
import { deliveryLogAtGitHub } from './redelivery/delivery-log-at-github.ts';
import { redeliver } from './redelivery/redeliver.ts';
import { readSince, redeliverSince } from './redelivery/redeliver-since.ts';
import { kindsOf, type Sweep } from './sweep.ts';
import type { SweepContext } from './sweep-context.ts';
import { redeliverSinceTask, redeliverTask, sweepTask } from './schedules/sweep-schedules.ts';
import { jobSweeps, ROWS_OF_RECOVERY } from './jobs/job-sweeps.ts';
import { upkeepSweeps } from './upkeep/upkeep-sweeps.ts';
import { workerSweeps } from './workers/worker-sweeps.ts';

/** What this process runs, by kind of task; none of it while it is paused. */
export const sweepKinds = (context: SweepContext): Kinds => kindsOf(context.db, sweeps(context));

/** Pods that the database has lost are adopted by then: a job that came back before its worker would get a second one. People may say no. */
const BRING_BACK_AFTER_MS = 600_000;

/** How far back each look at the delivery log goes. */
export const LOG_WINDOW_MS = 900_000;
/** Most pages of 100 deliveries in one look. The next look reads the rest. */
export const MOST_PAGES = 100;
/** GitHub keeps deliveries for three days. */
export const GIVE_UP_AFTER_MS = 72 * 3_600_000;
/** With more unresolved deliveries of an App, discovery looks at their repositories first. */
export const HAND_OVER_ABOVE = 500;

const GITHUB_ASKS_TO_WAIT = 'GitHub asks us to wait before its log of deliveries is read or repeated';

/** What to do where GitHub asks to wait; throws every other error. */
function waitOf(error: unknown): Outcome {
  const { retryAfterMs } = classifyGitHubError(error);
  if (retryAfterMs === undefined) throw error;
  return snooze(retryAfterMs, GITHUB_ASKS_TO_WAIT);
}

function sweeps(context: SweepContext): Readonly<Record<string, Sweep>> {
  const { db, github, config, events, taskEvents } = context;
  return {
    ...jobSweeps(context),
    ...workerSweeps(context),
    ...upkeepSweeps(context),
    redeliver: {
      slots: 2,
      pass: async ({ task: { subject }, signal, dryRun }) => {
        const appId = Number(subject.id);
        if (!config.github.apps.some((app) => app.appId === appId)) {
          return poison(`App ${subject.id} is not configured here any more`);
        }
        const everySeconds = config.redeliveryEverySeconds;
        const { retryAfterMs, ...counts } = await redeliver(
          {
            db,
            appId,
            log: deliveryLogAtGitHub(github, appId, signal),
            events,
            everySeconds,
            windowMs: LOG_WINDOW_MS,
            maxPages: MOST_PAGES,
            perMinute: config.redeliveryRequestsPerMinute,
            firstStepMs: config.redeliverySpacingMs,
            giveUpMs: GIVE_UP_AFTER_MS,
            handOverAbove: HAND_OVER_ABOVE,
            dryRun,
          },
          signal,
        );
        // A minute's requests are used up: the next minute goes on, not the next cycle.
        const goOn = counts.moreDue && everySeconds > 60 ? [{ ...redeliverTask(appId), dueInMs: 60_000 }] : [];
        const { missingSince } = counts;
        const bringBack = missingSince === undefined ? [] : [{ ...redeliverSinceTask(appId, missingSince), dueInMs: BRING_BACK_AFTER_MS }];
        if (retryAfterMs === undefined) return done(counts, [...goOn, ...bringBack]);
        if (!dryRun) await enqueueAlone(db, bringBack);
        return snooze(retryAfterMs, GITHUB_ASKS_TO_WAIT);
      },
    },
    'redeliver-since': {
      slots: 1,
      pass: async ({ task: { subject, payload }, signal, dryRun }) => {
        const [appId, wanted] = [Number(subject.id), readSince(payload)];
        if (!config.github.apps.some((app) => app.appId === appId)) return poison(`App ${subject.id} is not configured here any more`);
        if (wanted === undefined) return poison('the payload must name an instant: { "since": "2026-01-01T12:00:00Z" }');
        const log = deliveryLogAtGitHub(github, appId, signal);
        const passed = await redeliverSince({ db, appId, log, events, ...wanted, maxPages: MOST_PAGES, dryRun }, signal).catch(waitOf);
        if ('outcome' in passed) return passed;
        const { cursor, ...counts } = passed;
        const rest = cursor === undefined ? [] : [redeliverSinceTask(appId, wanted.since, cursor)];
        return done({ ...counts, more: cursor !== undefined }, [redeliverTask(appId), ...rest]);
      },
    },
    'recover-tasks': {
      slots: 1,
      pass: async ({ dryRun }) => {
        const options = { batch: ROWS_OF_RECOVERY, keep: executorRules(config).keep };
        const { found, requeued, ended, full } = await actOrCount(db, dryRun, (using) => recoverTasks(using, options));
        if (!dryRun) {
          events.tasksRecovered(requeued + ended.length);
          for (const task of ended) taskEvents.endedByCrashes(task);
        }
        // A full batch: there may be more, and they have waited long enough (E8).
        return done({ found, requeued, ended: ended.length }, full ? [sweepTask('recover-tasks')] : []);
      },
    },
  };
}
