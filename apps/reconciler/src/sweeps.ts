import { executorRules } from '@paddock/queue/executor-settings';
import { done, type Kinds } from '@paddock/queue/kind';
import { recoverTasks } from '@paddock/queue/recover-tasks';
import { discoverJobs } from './jobs/discover-jobs.ts';
import { lookUpJobs } from './jobs/look-up-jobs.ts';
import { notify } from './notifications/notify.ts';
import type { Pass } from './passes/pass.ts';
import { redeliver } from './redelivery/redeliver.ts';
import { sweepTask } from '@paddock/queue/sweep-schedules';
import { kindsOf, type Sweep, type SweepContext } from './sweep.ts';
import { sendTraces } from './traces/send-traces.ts';
import { checkApps } from './upkeep/check-apps.ts';
import { upkeep } from './upkeep/upkeep.ts';
import { checkRunnerVersions } from './workers/check-runner-versions.ts';
import { checkWorkers } from './workers/check-workers.ts';
import { deleteEndedPods } from './workers/delete-ended-pods.ts';
import { removeRegistrations } from './workers/remove-registrations.ts';

/**
 * All sweeps. Those that need no service work on rows; `check-workers` does so too for what it can
 * while GitHub is away.
 */
const SWEEPS = {
  redeliver: { slots: 2, needs: ['github'], pass: redeliver },
  'look-up-jobs': { slots: 1, needs: ['github'], pass: lookUpJobs },
  // One for its schedule, and three for what people ask for.
  'discover-jobs': { slots: 4, needs: ['github'], pass: discoverJobs },
  'check-apps': { slots: 1, needs: ['github'], pass: checkApps },
  'check-workers': { slots: 1, pass: checkWorkers },
  'check-runner-versions': { slots: 1, needs: ['github', 'cluster'], pass: checkRunnerVersions },
  'delete-ended-pods': { slots: 1, needs: ['cluster'], pass: deleteEndedPods },
  'remove-registrations': { slots: 1, needs: ['github', 'cluster'], pass: removeRegistrations },
  upkeep: { slots: 1, pass: upkeep },
  'recover-tasks': { slots: 1, pass: recoverStuckTasks },
} satisfies Readonly<Record<string, Sweep>>;

/** All sweeps of this process, by kind of task. */
export const sweepKinds = (context: SweepContext): Kinds => kindsOf(context, SWEEPS);

/** Frees stuck tasks. Its passes are short and need no service, so they send notifications and traces, too. */
async function recoverStuckTasks(context: SweepContext, pass: Pass) {
  const { db, config, events, taskEvents } = context;
  const options = { batch: config.recoveredTasksOfPass, keep: executorRules(config).keep };
  const { found, requeued, ended, full } = await recoverTasks(db, options);
  events.tasksRecovered(requeued + ended.length);
  for (const task of ended) taskEvents.taskCrashed(task);
  // After a full batch there may be more, and they have waited long enough.
  const followOn = full ? [sweepTask('recover-tasks')] : [];
  const notifications = await notify(context, pass);
  const traces = await sendTraces(context, pass);
  const told = { notifications, ...(traces && { traces }) };
  return done({ found, requeued, ended: ended.length, ...told }, followOn);
}
