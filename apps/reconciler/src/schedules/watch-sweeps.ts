import { mendInstants, MOST_SECONDS_AHEAD } from '@paddock/db/instants';
import type { Db } from '@paddock/db/schema/tables';
import { readSweeps, type Schedule } from '@paddock/queue/sweep-schedules';
import type { ReconcilerEvents } from '../events.ts';

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
