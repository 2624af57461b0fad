import type { Database } from '@paddock/db/tables';
import type { GitHub } from '@paddock/github/connect';
import type { Cluster } from '@paddock/kube/connect';
import type { ExecutorEvents } from '@paddock/queue/executor-events';
import { executorRules } from '@paddock/queue/executor-settings';
import type { Kind, Kinds } from '@paddock/queue/kind';
import type { NewTask } from '@paddock/queue/new-task';
import { done, poison } from '@paddock/queue/outcome';
import { purgeOperations } from '@paddock/queue/purge-operations';
import { recoverTasks } from '@paddock/queue/recover';
import { rollUpTaskCounts } from '@paddock/queue/task-counts';
import type { Kysely } from 'kysely';
import type { ReconcilerConfig } from './config.ts';
import { deleteEndedPods } from './delete-ended-pods.ts';
import { deliveryLogAtGitHub } from './delivery-log-at-github.ts';
import type { ReconcilerEvents } from './events.ts';
import { redeliver } from './redeliver.ts';
import { removeRegistrations } from './remove-registrations.ts';
import type { Schedule } from './schedules.ts';

export interface SweepContext {
  db: Kysely<Database>;
  github: GitHub;
  cluster: Cluster;
  config: ReconcilerConfig;
  events: ReconcilerEvents;
  taskEvents: Pick<ExecutorEvents, 'endedByCrashes'>;
}

/** What this process runs, by kind of task. A sweep's counts are its operation's output. */
export function sweepKinds({ db, github, cluster, config, events, taskEvents }: SweepContext): Kinds {
  return {
    redeliver: {
      slots: 2,
      handler: async ({ subject }, signal) => {
        const appId = Number(subject.id);
        if (!config.github.apps.some((app) => app.appId === appId)) {
          return poison(`App ${subject.id} is not configured here any more`);
        }
        const everySeconds = config.redeliveryEverySeconds;
        const counts = await redeliver(
          {
            db,
            appId,
            log: deliveryLogAtGitHub(github, appId, signal),
            events,
            everySeconds,
            windowMs: config.redeliveryWindowMs,
            maxPages: config.redeliveryPages,
            perMinute: config.redeliveryRequestsPerMinute,
            firstStepMs: config.redeliverySpacingMs,
            giveUpMs: config.redeliveryGiveUpHours * 3_600_000,
          },
          signal,
        );
        // A minute's requests are used up: the next minute goes on, not the next cycle.
        return done(counts, counts.moreDue && everySeconds > 60 ? [{ ...redeliverTask(appId), dueInMs: 60_000 }] : []);
      },
    },
    'recover-tasks': {
      slots: 1,
      handler: async () => {
        const { found, requeued, ended, full } = await recoverTasks(db, {
          leaseMs: config.taskLeaseMs,
          batch: config.recoverBatch,
          keep: executorRules(config).keep,
        });
        events.tasksRecovered(requeued + ended.length);
        for (const task of ended) taskEvents.endedByCrashes(task);
        // A full batch: there may be more, and they have waited long enough (E8).
        return done({ found, requeued, ended: ended.length }, full ? [taskOf('recover-tasks')] : []);
      },
    },
    'delete-ended-pods': sweep(1, (signal) =>
      deleteEndedPods(
        { db, cluster, events, succeededGraceMs: config.podGraceSucceededMs, failedGraceMs: config.podGraceFailedMs, batch: 100 },
        signal,
      ),
    ),
    'remove-registrations': sweep(1, (signal) =>
      removeRegistrations({ db, github, events, graceMs: config.registrationGraceMs, cap: config.registrationCap }, signal),
    ),
    'purge-operations': sweep(1, (signal) => purgeExpired(db, signal)),
    'roll-up-counts': sweep(1, () => rollUpTaskCounts(db, config.taskCountsKeepMonths)),
  };
}

/** When each sweep runs (E9). */
export function sweepSchedules(config: ReconcilerConfig): Schedule[] {
  return [
    ...config.github.apps.map(({ appId }) => ({
      name: `redeliver:${appId}`,
      everySeconds: config.redeliveryEverySeconds,
      task: redeliverTask(appId),
    })),
    scheduleOf('recover-tasks', config.recoverTasksEverySeconds),
    scheduleOf('delete-ended-pods', config.endedPodsEverySeconds),
    scheduleOf('remove-registrations', config.registrationsEverySeconds),
    scheduleOf('purge-operations', config.purgeEverySeconds),
    scheduleOf('roll-up-counts', config.rollUpEverySeconds),
  ];
}

/** A sweep that failed is repeated soon, and begins anew with the next tick anyway. */
const SWEEP_ATTEMPTS = 3;

const redeliverTask = (appId: number): NewTask => ({
  kind: 'redeliver',
  subject: { type: 'app', id: String(appId) },
  maxAttempts: SWEEP_ATTEMPTS,
});

const taskOf = (kind: string): NewTask => ({ kind, subject: { type: 'schedule', id: kind }, maxAttempts: SWEEP_ATTEMPTS });

const scheduleOf = (kind: string, everySeconds: number): Schedule => ({ name: kind, everySeconds, task: taskOf(kind) });

const sweep = (slots: number, once: (signal: AbortSignal) => Promise<object>): Kind => ({
  slots,
  handler: async (_task, signal) => done(await once(signal)),
});

const PURGE_BATCH = 1000;

/** Removes expired operations in small batches, until none is left (D9). */
async function purgeExpired(db: Kysely<Database>, signal: AbortSignal): Promise<{ purged: number }> {
  let purged = 0;
  while (!signal.aborted) {
    const some = await purgeOperations(db, PURGE_BATCH);
    purged += some;
    if (some < PURGE_BATCH) break;
  }
  return { purged };
}
