import { redeliverySchedule, REDELIVER, SWEEP_ATTEMPTS } from '@paddock/domain/tasks/sweep-names';
import type { Rules, ValuesOf } from '@paddock/runtime/rules';
import type { NewTask } from './enqueue.ts';
import { findSweepStates, type SweepState } from '@paddock/db/schedules/sweep-states';
import type { Db } from '@paddock/db/schema/tables';
import { isOverdue, whyOverdue } from '@paddock/domain/tasks/why-overdue';

/** Recurring work: each tick enqueues the task, once in the cluster. */
export interface Schedule {
  name: string;
  /** It ticks at the multiples of this, in UTC. */
  everySeconds: number;
  task: NewTask;
}

/** How often a sweep runs; it must divide a minute, an hour or a day evenly. */
const cadence = (seconds: number) => ({ value: seconds, min: 1, max: 86_400 });

/** How often each sweep runs, in seconds. */
export const cadenceRules = {
  /** Reads each App's delivery log. */
  redeliveryEverySeconds: cadence(300),
  /** Looks for stuck tasks. */
  recoverTasksEverySeconds: cadence(60),
  /** Looks for jobs in doubt, and asks GitHub about them. */
  lookUpJobsEverySeconds: cadence(60),
  /** Picks repositories and looks for jobs in them. */
  discoverJobsEverySeconds: cadence(60),
  /** Looks for workers past a deadline. */
  checkWorkersEverySeconds: cadence(60),
  /** Deletes the pods of ended workers. */
  endedPodsEverySeconds: cadence(300),
  /** Lists GitHub's runners, to remove ours without a live worker. */
  registrationsEverySeconds: cadence(1_800),
} satisfies Rules;

export const HOUR_SECONDS = 3_600;
const UPKEEP_SECONDS = 300;

/** When each sweep runs, with these Apps. */
export function sweepSchedules(
  cadences: ValuesOf<typeof cadenceRules>,
  appIds: readonly number[],
): Schedule[] {
  return [
    ...appIds.map((appId) => ({
      name: redeliverySchedule(appId),
      everySeconds: cadences.redeliveryEverySeconds,
      task: redeliverTask(appId),
    })),
    scheduleFor('look-up-jobs', cadences.lookUpJobsEverySeconds),
    scheduleFor('discover-jobs', cadences.discoverJobsEverySeconds),
    scheduleFor('check-apps', HOUR_SECONDS),
    scheduleFor('check-workers', cadences.checkWorkersEverySeconds),
    scheduleFor('check-runner-versions', HOUR_SECONDS),
    scheduleFor('recover-tasks', cadences.recoverTasksEverySeconds),
    scheduleFor('delete-ended-pods', cadences.endedPodsEverySeconds),
    scheduleFor('remove-registrations', cadences.registrationsEverySeconds),
    scheduleFor('upkeep', UPKEEP_SECONDS),
  ];
}

/**
 * The name of the schedule that enqueues a task, or whose dry run it is: the kind is the subject of
 * both. A sweep about Apps has one schedule per App.
 */
export const scheduleOf = ({
  kind,
  subject: { id },
}: {
  kind: string;
  subject: { id: string };
}): string => (id === kind ? kind : `${kind}:${id}`);

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

/** A schedule's state, and why it is overdue if it is. */
export interface WatchedSweep extends SweepState {
  readonly overdueFor: string | undefined;
}

/** The state of each configured schedule, the same in every replica. */
export async function readSweeps(db: Db, schedules: readonly Schedule[]): Promise<WatchedSweep[]> {
  const cadences = new Map(schedules.map(({ name, everySeconds }) => [name, everySeconds]));
  const states = await findSweepStates(
    db,
    schedules.map(({ name, task: { kind, subject } }) => ({ name, kind, subjectId: subject.id })),
  );
  return states.map((state) => {
    const everySeconds = cadences.get(state.name) ?? 0;
    const overdue = isOverdue(state.secondsSinceSuccess, everySeconds);
    const overdueFor = overdue ? whyOverdue(state, everySeconds) : undefined;
    return Object.assign({ overdueFor }, state);
  });
}
