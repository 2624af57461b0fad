import { redeliverySchedule, REDELIVER, SWEEP_ATTEMPTS } from '@paddock/domain/tasks/sweep-names';
import type { NewTask } from '@paddock/queue/enqueue';
import type { ValuesOf } from '@paddock/runtime/rules';
import type { cadenceRules } from '../rules.ts';
import { cronExpression } from './nominal-tick.ts';
import type { Schedule } from './schedules.ts';

export const HOURLY = '0 0 * * * *';
const EVERY_FIVE_MINUTES = '0 */5 * * * *';

/** When each sweep runs, with these Apps. */
export function sweepSchedules(
  cadences: ValuesOf<typeof cadenceRules>,
  appIds: readonly number[],
): Schedule[] {
  return [
    ...appIds.map((appId) => ({
      name: redeliverySchedule(appId),
      cron: cronExpression(cadences.redeliveryEverySeconds),
      task: redeliverTask(appId),
    })),
    scheduleFor('look-up-jobs', cronExpression(cadences.lookUpJobsEverySeconds)),
    scheduleFor('discover-jobs', cronExpression(cadences.discoverJobsEverySeconds)),
    scheduleFor('check-apps', HOURLY),
    scheduleFor('check-workers', cronExpression(cadences.checkWorkersEverySeconds)),
    scheduleFor('check-runner-versions', HOURLY),
    scheduleFor('recover-tasks', cronExpression(cadences.recoverTasksEverySeconds)),
    scheduleFor('delete-ended-pods', cronExpression(cadences.endedPodsEverySeconds)),
    scheduleFor('remove-registrations', cronExpression(cadences.registrationsEverySeconds)),
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
