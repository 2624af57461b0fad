import { type DatabaseFacts, warningOf } from '@paddock/db/database-checks';
import { findSecondsAhead, MOST_SECONDS_AHEAD } from '@paddock/db/instants';
import type { Db } from '@paddock/db/schema/tables';
import { duration } from '@paddock/domain/text/duration';
import { type Finding, findingsOf } from './findings.ts';

/** What the scheduler needs unless it is set otherwise: its pool, and two beside it. */
const CONNECTIONS = 10;

/** What to mend although a service works on the database. Rejects if PostgreSQL does. */
export async function checkFacts(
  db: Db,
  facts: DatabaseFacts,
  { schema, now }: { readonly schema: string; readonly now: number },
): Promise<Finding[]> {
  const { found, mend, remark } = findingsOf('database');
  if (facts.powerless.length > 0)
    mend(
      `The roles ${facts.powerless.join(', ')} have no rights in the schema ${schema}: run the migration again with a role that may grant them`,
    );
  const warning = warningOf(facts, CONNECTIONS);
  if (warning !== undefined) remark(`The database works, but ${warning}`);
  const ahead = await findSecondsAhead(db, new Date(now));
  if (Math.abs(ahead) > MOST_SECONDS_AHEAD)
    mend(
      `The clock of PostgreSQL is ${duration(Math.abs(ahead) * 1_000)} ${ahead > 0 ? 'ahead of' : 'behind'} that of this machine: set both, for example by NTP`,
    );
  return found;
}
