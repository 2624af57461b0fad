import {
  REDELIVER_DELIVERY,
  RESYNC_INSTALLATION,
  RESYNC_REPOSITORY,
} from '@paddock/domain/tasks/sweep-names';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { executorRules } from '@paddock/queue/executor-settings';
import type { Kinds } from '@paddock/queue/kind';
import { done, type Outcome, poison, snooze } from '@paddock/queue/outcome';
import { recoverTasks } from '@paddock/queue/recover-tasks';
import type { Service } from '@paddock/runtime/reach';
import { actOrCount } from './count-only.ts';
import { deliveryLogAtGitHub } from './redelivery/delivery-log-at-github.ts';
import { redeliver } from './redelivery/redeliver.ts';
import { redeliverDelivery } from './redelivery/redeliver-delivery.ts';
import { readSince, redeliverSince } from './redelivery/redeliver-since.ts';
import { kindsOf, type Sweep } from './sweep.ts';
import type { SweepContext } from './sweep-context.ts';
import { redeliverSinceTask, redeliverTask, sweepTask } from './schedules/sweep-schedules.ts';
import { jobSweeps } from './jobs/job-sweeps.ts';
import { upkeepSweeps } from './upkeep/upkeep-sweeps.ts';
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
  'redeliver-since': ['github'],
  [REDELIVER_DELIVERY]: ['github'],
  [RESYNC_REPOSITORY]: ['github'],
  [RESYNC_INSTALLATION]: ['github'],
  'remove-registrations': ['github'],
  'remove-stray-registrations': ['github', 'cluster'],
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

/**
 * By then the scheduler has adopted pods that the database lost: before, a job that comes back
 * would get a second worker. An operator has time to delete the task.
 */
const BRING_BACK_AFTER_MS = 600_000;

/** Most tasks that one pass frees. */
export const ROWS_OF_RECOVERY = 250;

/** How far back each pass reads the delivery log. */
export const LOG_WINDOW_MS = 900_000;
/** Most pages of 100 deliveries in one pass. The next pass reads the rest. */
export const MOST_PAGES = 100;
/** GitHub keeps deliveries for three days. */
export const GIVE_UP_AFTER_MS = 72 * 3_600_000;
/** With more unresolved deliveries of an App, discovery takes their repositories first. */
export const HAND_OVER_ABOVE = 500;

const GITHUB_ASKS_TO_WAIT =
  'GitHub asks us to wait before we read its delivery log or request redeliveries';

const notConfigured = (appId: string): Outcome =>
  poison(`App ${appId} is no longer in the configuration`);

/** The App that the payload names, if it is configured here; else all. */
const appIdsOf = (payload: unknown, configured: readonly number[]): readonly number[] =>
  typeof payload === 'object' && payload !== null && 'appId' in payload
    ? configured.filter((id) => id === payload.appId)
    : configured;

function sweeps(context: SweepContext): Readonly<Record<string, Sweep>> {
  const { db, github, config, events, taskEvents } = context;
  return {
    ...jobSweeps(context),
    ...workerSweeps(context),
    ...upkeepSweeps(context),
    redeliver: {
      slots: 2,
      pass: async (pass) => {
        const { subject } = pass.task;
        const appId = Number(subject.id);
        if (!github.appIds.includes(appId)) return notConfigured(subject.id);
        const everySeconds = config.redeliveryEverySeconds;
        const { retryAfterMs, ...counts } = await redeliver(
          {
            db,
            appId,
            log: deliveryLogAtGitHub(github, appId, pass.signal),
            events,
            everySeconds,
            windowMs: LOG_WINDOW_MS,
            maxPages: MOST_PAGES,
            perMinute: config.redeliveryRequestsPerMinute,
            firstStepMs: config.redeliverySpacingMs,
            giveUpMs: GIVE_UP_AFTER_MS,
            handOverAbove: HAND_OVER_ABOVE,
          },
          pass,
        );
        // This minute's requests are used up: go on in the next minute, not in the next cycle.
        const goOn =
          counts.moreDue && everySeconds > 60 ? [{ ...redeliverTask(appId), dueInMs: 60_000 }] : [];
        const { missingSince } = counts;
        const bringBack =
          missingSince === undefined
            ? []
            : [{ ...redeliverSinceTask(appId, missingSince), dueInMs: BRING_BACK_AFTER_MS }];
        if (retryAfterMs === undefined) return done(counts, [...goOn, ...bringBack]);
        if (!pass.dryRun) await enqueueAlone(db, bringBack);
        return snooze(retryAfterMs, GITHUB_ASKS_TO_WAIT);
      },
    },
    'redeliver-since': {
      slots: 1,
      pass: async ({ task: { subject, payload }, signal, dryRun }) => {
        const [appId, wanted] = [Number(subject.id), readSince(payload)];
        if (!github.appIds.includes(appId)) return notConfigured(subject.id);
        if (wanted === undefined)
          return poison('the payload must name an instant: { "since": "2026-01-01T12:00:00Z" }');
        const log = deliveryLogAtGitHub(github, appId, signal);
        const { cursor, ...counts } = await redeliverSince(
          { db, appId, log, events, ...wanted, maxPages: MOST_PAGES, dryRun },
          signal,
        );
        const rest = cursor === undefined ? [] : [redeliverSinceTask(appId, wanted.since, cursor)];
        return done({ ...counts, more: cursor !== undefined }, [redeliverTask(appId), ...rest]);
      },
    },
    [REDELIVER_DELIVERY]: {
      slots: 1,
      pass: async ({ task: { subject, payload }, signal, dryRun }) => {
        const appIds = appIdsOf(payload, github.appIds);
        if (appIds.length === 0) return poison('its App is no longer in the configuration');
        return redeliverDelivery(
          {
            db,
            appIds,
            logOf: (appId) => deliveryLogAtGitHub(github, appId, signal),
            maxPages: MOST_PAGES,
            firstStepMs: config.redeliverySpacingMs,
            dryRun,
          },
          subject.id,
          signal,
        );
      },
    },
    'recover-tasks': {
      slots: 1,
      pass: async ({ dryRun }) => {
        const options = { batch: ROWS_OF_RECOVERY, keep: executorRules(config).keep };
        const { found, requeued, ended, full } = await actOrCount(db, dryRun, (using) =>
          recoverTasks(using, options),
        );
        if (!dryRun) {
          events.tasksRecovered(requeued + ended.length);
          for (const task of ended) taskEvents.endedByCrashes(task);
        }
        // After a full batch there may be more, and they have waited long enough.
        return done(
          { found, requeued, ended: ended.length },
          full ? [sweepTask('recover-tasks')] : [],
        );
      },
    },
  };
}
