import type { Database } from '@paddock/db/schema/tables';
import { findSweepStates, type SweepState } from '@paddock/db/schedules/sweep-states';
import { isOverdue, whyOverdue } from '@paddock/domain/tasks/why-overdue';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';
import type { Schedule } from './schedules.ts';

/** A schedule's state, and why it is overdue if it is. */
export interface WatchedSweep extends SweepState {
  readonly overdueFor: string | undefined;
}

/** What is known of each configured schedule now, the same in every replica. */
export async function readSweeps(db: Kysely<Database>, schedules: readonly Schedule[]): Promise<WatchedSweep[]> {
  const cadences = new Map(schedules.map(({ name, everySeconds }) => [name, everySeconds]));
  const states = await findSweepStates(
    db,
    schedules.map(({ name, task: { kind, subject } }) => ({ name, kind, subjectId: subject.id })),
  );
  return states.map((state) => {
    const everySeconds = cadences.get(state.name) ?? 0;
    const overdue = isOverdue(state.secondsSinceSuccess, everySeconds);
    return Object.assign({ overdueFor: overdue ? whyOverdue(state, everySeconds) : undefined }, state);
  });
}

/**
 * Tells of sweeps that have not succeeded for several of their cadences: when it begins, when the reason changes, and when they succeed
 * again. A sweep whose passes all fail stops the recovery it is for, while the service is ready and well.
 */
export function createSweepWatch(
  db: Kysely<Database>,
  schedules: readonly Schedule[],
  events: Pick<ReconcilerEvents, 'sweepOverdue' | 'sweepSucceedsAgain'>,
): () => Promise<void> {
  const told = new Map<string, string>();
  return async () => {
    for (const { name, secondsSinceSuccess, overdueFor } of await readSweeps(db, schedules)) {
      if (overdueFor === undefined) {
        if (told.delete(name)) events.sweepSucceedsAgain(name);
      } else if (kindOfReason(told.get(name)) !== kindOfReason(overdueFor)) {
        told.set(name, overdueFor);
        events.sweepOverdue(name, secondsSinceSuccess, overdueFor);
      }
    }
  };
}

/** Without the seconds, which change at every look. */
const kindOfReason = (reason: string | undefined): string | undefined => reason?.replace(/ for \d+ s$/, '');
