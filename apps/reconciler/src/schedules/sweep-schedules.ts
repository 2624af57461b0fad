import { redeliverySchedule } from '@paddock/domain/tasks/schedule-names';
import { REDELIVER, SWEEP_ATTEMPTS } from '@paddock/domain/tasks/sweep-names';
import type { NewTask } from '@paddock/queue/new-task';
import type { ReconcilerConfig } from '../config.ts';
import { cronExpression } from './cron-expression.ts';
import type { Schedule } from './schedules.ts';

export const HOURLY = '0 0 * * * *';
const EVERY_FIVE_MINUTES = '0 */5 * * * *';

/** When each sweep runs, with these Apps. */
export function sweepSchedules(
  config: Omit<ReconcilerConfig, 'github'>,
  appIds: readonly number[],
): Schedule[] {
  return [
    ...appIds.map((appId) => ({
      name: redeliverySchedule(appId),
      cron: cronExpression(config.redeliveryEverySeconds),
      task: redeliverTask(appId),
    })),
    scheduleFor('look-up-jobs', cronExpression(config.lookUpJobsEverySeconds)),
    scheduleFor('discover-jobs', cronExpression(config.discoverJobsEverySeconds)),
    scheduleFor('check-apps', HOURLY),
    scheduleFor('check-workers', cronExpression(config.checkWorkersEverySeconds)),
    scheduleFor('check-runner-versions', HOURLY),
    scheduleFor('recover-tasks', cronExpression(config.recoverTasksEverySeconds)),
    scheduleFor('delete-ended-pods', cronExpression(config.endedPodsEverySeconds)),
    scheduleFor('remove-registrations', cronExpression(config.registrationsEverySeconds)),
    scheduleFor('upkeep', EVERY_FIVE_MINUTES),
  ];
}

/** The name of the schedule that enqueues a task. A sweep about Apps has one schedule per App. */
export const scheduleOf = ({
  kind,
  subject,
}: {
  kind: string;
  subject: { type: string; id: string };
}): string => (subject.type === 'schedule' ? kind : `${kind}:${subject.id}`);

export const redeliverTask = (appId: number): NewTask => ({
  kind: REDELIVER,
  subject: { type: 'app', id: String(appId) },
  maxAttempts: SWEEP_ATTEMPTS,
});

/** A pass of a sweep that is not about one App. */
export const sweepTask = (kind: string): NewTask => ({
  kind,
  subject: { type: 'schedule', id: kind },
  maxAttempts: SWEEP_ATTEMPTS,
});

const scheduleFor = (kind: string, cron: string): Schedule => ({
  name: kind,
  cron,
  task: sweepTask(kind),
});
