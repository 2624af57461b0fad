import { mendInstants } from '@paddock/db/instants';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import type { ReconcilerEvents } from '../events.ts';

/** Clocks that are right differ by less. */
const MOST_SECONDS = 60;

/**
 * Makes void instants now, and reports how many there were. Reports once that PostgreSQL's clock
 * and ours disagree, until they agree again: one of them is wrong.
 */
export function createClockWatch(
  db: Kysely<Database>,
  events: Pick<ReconcilerEvents, 'clocksDiffer' | 'instantsMended'>,
  ours = () => new Date(),
): () => Promise<void> {
  let didDiffer = false;
  return async () => {
    const { aheadSeconds, mended } = await mendInstants(db, ours());
    const differ = Math.abs(aheadSeconds) > MOST_SECONDS;
    if (differ && !didDiffer) events.clocksDiffer(aheadSeconds);
    didDiffer = differ;
    if (Object.keys(mended).length > 0) events.instantsMended(mended);
  };
}
