import type { Database } from '@paddock/db/schema/tables';
import { findSweepStates, type SweepState } from '@paddock/db/schedules/sweep-states';
import { isOverdue, whyOverdue } from '@paddock/domain/tasks/why-overdue';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import { cadenceOf } from './nominal-tick.ts';
import type { Schedule } from './schedules.ts';

/** A schedule's state, and why it is overdue if it is. */
export interface WatchedSweep extends SweepState {
  readonly overdueFor: string | undefined;
}

/** The state of each configured schedule, the same in every replica. */
export async function readSweeps(
  db: Kysely<Database>,
  schedules: readonly Schedule[],
): Promise<WatchedSweep[]> {
  const cadences = new Map(schedules.map(({ name, cron }) => [name, cadenceOf(cron)]));
  const states = await findSweepStates(
    db,
    schedules.map(({ name, task: { kind, subject } }) => ({ name, kind, subjectId: subject.id })),
  );
  return states.map((state) => {
    const everySeconds = cadences.get(state.name) ?? 0;
    const overdue = isOverdue(state.secondsSinceSuccess, everySeconds);
    return Object.assign(
      { overdueFor: overdue ? whyOverdue(state, everySeconds) : undefined },
      state,
    );
  });
}

/**
 * Reports sweeps without a success for several cadences: once per reason, and again when they
 * succeed. A sweep can fail for ever while the service is ready and healthy.
 */
export function createSweepWatch(
  db: Kysely<Database>,
  schedules: () => readonly Schedule[],
  events: Pick<ReconcilerEvents, 'sweepOverdue' | 'sweepSucceedsAgain'>,
): () => Promise<void> {
  const reported = new Map<string, string>();
  return async () => {
    for (const { name, secondsSinceSuccess, overdueFor } of await readSweeps(db, schedules())) {
      if (overdueFor === undefined) {
        if (reported.delete(name)) events.sweepSucceedsAgain(name);
      } else if (kindOfReason(reported.get(name)) !== kindOfReason(overdueFor)) {
        reported.set(name, overdueFor);
        events.sweepOverdue(name, secondsSinceSuccess, overdueFor);
      }
    }
  };
}

/** Without the seconds, which change at every check. */
const kindOfReason = (reason: string | undefined): string | undefined =>
  reason?.replace(/ for \d+ s$/, '');
