import { mendInstants, MOST_SECONDS_AHEAD } from '@paddock/db/instants';
import type { Db } from '@paddock/db/schema/tables';
import { findSweepStates, type SweepState } from '@paddock/db/schedules/sweep-states';
import { isOverdue, whyOverdue } from '@paddock/domain/tasks/why-overdue';
import type { ReconcilerEvents } from '../events.ts';
import type { Schedule } from './schedules.ts';

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

/**
 * Reports sweeps without a success for several cadences: once per reason, and again when they
 * succeed. A sweep can fail for ever while the service is ready and healthy.
 *
 * Makes void instants now, and reports how many there were. Reports once that PostgreSQL's clock
 * and ours disagree, until they agree again: one of them is wrong.
 */
export function createWatch(
  db: Db,
  schedules: () => readonly Schedule[],
  events: Pick<
    ReconcilerEvents,
    'sweepOverdue' | 'sweepSucceedsAgain' | 'clocksDiffer' | 'instantsMended'
  >,
  ours = () => new Date(),
): () => Promise<void> {
  const reported = new Map<string, string>();
  let didDiffer = false;
  return async () => {
    for (const { name, secondsSinceSuccess, overdueFor } of await readSweeps(db, schedules())) {
      if (overdueFor === undefined) {
        if (reported.delete(name)) events.sweepSucceedsAgain(name);
      } else if (kindOfReason(reported.get(name)) !== kindOfReason(overdueFor)) {
        reported.set(name, overdueFor);
        events.sweepOverdue(name, secondsSinceSuccess, overdueFor);
      }
    }
    const { aheadSeconds, mended } = await mendInstants(db, ours());
    const differ = Math.abs(aheadSeconds) > MOST_SECONDS_AHEAD;
    if (differ && !didDiffer) events.clocksDiffer(aheadSeconds);
    didDiffer = differ;
    if (Object.keys(mended).length > 0) events.instantsMended(mended);
  };
}

/** Without the seconds, which change at every check. */
const kindOfReason = (reason: string | undefined): string | undefined =>
  reason?.replace(/ for \d+ s$/, '');
