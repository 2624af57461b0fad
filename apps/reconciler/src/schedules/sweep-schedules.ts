import { redeliverySchedule } from '@paddock/domain/tasks/schedule-names';
import { REDELIVER, SWEEP_ATTEMPTS } from '@paddock/domain/tasks/sweep-names';
import type { NewTask } from '@paddock/queue/new-task';
import type { ReconcilerConfig } from '../config.ts';
import type { Schedule } from './schedules.ts';

const HOUR_SECONDS = 3_600;

/** When each sweep runs, with these Apps. */
export function sweepSchedules(
  config: Omit<ReconcilerConfig, 'github'>,
  appIds: readonly number[],
): Schedule[] {
  return [
    ...appIds.map((appId) => ({
      name: redeliverySchedule(appId),
      everySeconds: config.redeliveryEverySeconds,
      task: redeliverTask(appId),
    })),
    scheduleFor('look-up-jobs', config.lookUpJobsEverySeconds),
    scheduleFor('discover-jobs', config.discoverJobsEverySeconds),
    scheduleFor('check-apps', HOUR_SECONDS),
    scheduleFor('check-workers', config.checkWorkersEverySeconds),
    scheduleFor('check-runner-versions', HOUR_SECONDS),
    scheduleFor('recover-tasks', config.recoverTasksEverySeconds),
    scheduleFor('delete-ended-pods', config.endedPodsEverySeconds),
    scheduleFor('remove-registrations', config.registrationsEverySeconds),
    scheduleFor('upkeep', 300),
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

const scheduleFor = (kind: string, everySeconds: number): Schedule => ({
  name: kind,
  everySeconds,
  task: sweepTask(kind),
});
