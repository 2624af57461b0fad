import { findStoredDeliveries } from '@paddock/db/deliveries/installation-events';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';

/** How many GUIDs one look-up asks for. */
const GUIDS_AT_ONCE = 1000;

/** Those deliveries that our own events do not have. */
export async function findUnstored(db: Kysely<Database>, guids: readonly string[]): Promise<string[]> {
  const unstored: string[] = [];
  for (let from = 0; from < guids.length; from += GUIDS_AT_ONCE) {
    const some = guids.slice(from, from + GUIDS_AT_ONCE);
    const stored = await findStoredDeliveries(db, some);
    unstored.push(...some.filter((guid) => !stored.has(guid)));
  }
  return unstored;
}
