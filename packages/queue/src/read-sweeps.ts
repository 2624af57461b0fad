import { findSweepStates, type SweepState } from '@paddock/db/schedules/sweep-states';
import type { Db } from '@paddock/db/schema/tables';
import { isOverdue, whyOverdue } from '@paddock/domain/tasks/why-overdue';
import type { Schedule } from './sweep-schedules.ts';

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
