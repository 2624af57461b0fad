import type { NewTask } from '@paddock/queue/new-task';
import type { ReconcilerConfig } from '../config.ts';
import type { Schedule } from './schedules.ts';

/** When each sweep runs (E9). */
export function sweepSchedules(config: ReconcilerConfig): Schedule[] {
  return [
    ...config.github.apps.map(({ appId }) => ({
      name: `redeliver:${appId}`,
      everySeconds: config.redeliveryEverySeconds,
      task: redeliverTask(appId),
    })),
    scheduleOf('recover-jobs', config.recoverJobsEverySeconds),
    scheduleOf('look-up-jobs', config.lookUpJobsEverySeconds),
    scheduleOf('discover-jobs', config.discoverJobsEverySeconds),
    scheduleOf('check-apps', config.checkAppsEverySeconds),
    scheduleOf('check-workers', config.checkWorkersEverySeconds),
    scheduleOf('check-runner-versions', config.checkRunnerVersionsEverySeconds),
    scheduleOf('recover-tasks', config.recoverTasksEverySeconds),
    scheduleOf('delete-ended-pods', config.endedPodsEverySeconds),
    scheduleOf('remove-registrations', config.registrationsEverySeconds),
    scheduleOf('remove-stray-registrations', config.strayRegistrationsEverySeconds),
    scheduleOf('retire-rows', config.retireRowsEverySeconds),
    scheduleOf('purge-operations', config.purgeEverySeconds),
    scheduleOf('roll-up-counts', config.rollUpEverySeconds),
  ];
}

/** A sweep that failed is repeated soon, and begins anew with the next tick anyway. */
const SWEEP_ATTEMPTS = 3;

export const redeliverTask = (appId: number): NewTask => ({
  kind: 'redeliver',
  subject: { type: 'app', id: String(appId) },
  maxAttempts: SWEEP_ATTEMPTS,
});

/** With a `cursor`, goes on from where the pass before stopped. */
export const redeliverSinceTask = (appId: number, since: Date, cursor?: string): NewTask => ({
  kind: 'redeliver-since',
  subject: { type: 'app', id: String(appId) },
  payload: { since: since.toISOString(), ...(cursor === undefined ? {} : { cursor }) },
  maxAttempts: SWEEP_ATTEMPTS,
});

/** A pass of a sweep that is about everything. */
export const sweepTask = (kind: string): NewTask => ({ kind, subject: { type: 'schedule', id: kind }, maxAttempts: SWEEP_ATTEMPTS });

const scheduleOf = (kind: string, everySeconds: number): Schedule => ({ name: kind, everySeconds, task: sweepTask(kind) });
