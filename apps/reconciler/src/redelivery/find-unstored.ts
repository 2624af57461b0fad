import { findStoredDeliveries, type LoggedDelivery } from '@paddock/db/events/installation-events';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';

/** How many deliveries one statement takes. */
const AT_ONCE = 1000;

/**
 * The GUIDs of the given deliveries, each given once, that our events lack.
 * `countsReplays`: see `isArrivalOf`.
 */
export async function findUnstored(
  db: Kysely<Database>,
  deliveries: readonly LoggedDelivery[],
  counting: { countsReplays: boolean },
): Promise<string[]> {
  const unstored: string[] = [];
  for (let from = 0; from < deliveries.length; from += AT_ONCE) {
    const some = deliveries.slice(from, from + AT_ONCE);
    const stored = await findStoredDeliveries(db, some, counting);
    unstored.push(...some.filter(({ guid }) => !stored.has(guid)).map(({ guid }) => guid));
  }
  return unstored;
}
