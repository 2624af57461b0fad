import type { Database } from '@paddock/db/tables';
import type { GitHub } from '@paddock/github/connect';
import type { Cluster } from '@paddock/kube/connect';
import type { ExecutorEvents } from '@paddock/queue/executor-events';
import { executorRules } from '@paddock/queue/executor-settings';
import type { Kinds } from '@paddock/queue/kind';
import { done, poison } from '@paddock/queue/outcome';
import { countExpiredOperations, purgeOperations } from '@paddock/queue/purge-operations';
import { recoverTasks } from '@paddock/queue/recover';
import { rollUpTaskCounts } from '@paddock/queue/task-counts';
import type { Kysely } from 'kysely';
import type { ReconcilerConfig } from './config.ts';
import { actOrCount } from './count-only.ts';
import { deleteEndedPods } from './delete-ended-pods.ts';
import { deliveryLogAtGitHub } from './delivery-log-at-github.ts';
import type { ReconcilerEvents } from './events.ts';
import { redeliver } from './redeliver.ts';
import { removeRegistrations } from './remove-registrations.ts';
import { counting, kindsOf, type Sweep } from './sweep.ts';
import { redeliverTask, sweepTask } from './sweep-schedules.ts';
import { truthSweeps } from './truth-sweeps.ts';

export interface SweepContext {
  db: Kysely<Database>;
  github: GitHub;
  cluster: Cluster;
  config: ReconcilerConfig;
  events: ReconcilerEvents;
  taskEvents: Pick<ExecutorEvents, 'endedByCrashes'>;
}

/** What this process runs, by kind of task; none of it while it is paused. */
export const sweepKinds = (context: SweepContext): Kinds => kindsOf(context.db, sweeps(context));

function sweeps(context: SweepContext): Readonly<Record<string, Sweep>> {
  const { db, github, cluster, config, events, taskEvents } = context;
  return {
    ...truthSweeps(context),
    redeliver: {
      slots: 2,
      pass: async ({ task: { subject }, signal, dryRun }) => {
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
            dryRun,
          },
          signal,
        );
        // A minute's requests are used up: the next minute goes on, not the next cycle.
        return done(counts, counts.moreDue && everySeconds > 60 ? [{ ...redeliverTask(appId), dueInMs: 60_000 }] : []);
      },
    },
    'recover-tasks': {
      slots: 1,
      pass: async ({ dryRun }) => {
        const options = { leaseMs: config.taskLeaseMs, batch: config.recoverBatch, keep: executorRules(config).keep };
        const { found, requeued, ended, full } = await actOrCount(db, dryRun, (using) => recoverTasks(using, options));
        if (!dryRun) {
          events.tasksRecovered(requeued + ended.length);
          for (const task of ended) taskEvents.endedByCrashes(task);
        }
        // A full batch: there may be more, and they have waited long enough (E8).
        return done({ found, requeued, ended: ended.length }, full ? [sweepTask('recover-tasks')] : []);
      },
    },
    'delete-ended-pods': counting(1, ({ signal, dryRun }) =>
      deleteEndedPods(
        { db, cluster, events, succeededGraceMs: config.podGraceSucceededMs, failedGraceMs: config.podGraceFailedMs, batch: 100, dryRun },
        signal,
      ),
    ),
    'remove-registrations': counting(1, ({ signal, dryRun }) =>
      removeRegistrations({ db, github, events, graceMs: config.registrationGraceMs, cap: config.registrationCap, dryRun }, signal),
    ),
    'purge-operations': counting(1, async ({ signal, dryRun }) => ({
      purged: await (dryRun ? countExpiredOperations(db) : purgeExpired(db, signal)),
    })),
    'roll-up-counts': counting(1, ({ dryRun }) => actOrCount(db, dryRun, (using) => rollUpTaskCounts(using, config.taskCountsKeepMonths))),
  };
}

const PURGE_BATCH = 1000;

/** Removes expired operations in small batches, until none is left (D9). */
async function purgeExpired(db: Kysely<Database>, signal: AbortSignal): Promise<number> {
  let purged = 0;
  while (!signal.aborted) {
    const some = await purgeOperations(db, PURGE_BATCH);
    purged += some;
    if (some < PURGE_BATCH) break;
  }
  return purged;
}
