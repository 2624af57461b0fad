import { sqlStateOf } from '@paddock/db/connection/errors';
import { UnfitDatabase } from '@paddock/db/migrate';
import { explainCauses, whyUnreachable } from '@paddock/db/why-unreachable';

/**
 * A sentence for a failure that the operator can mend: no server, wrong password, missing right,
 * held lock. Undefined for any other failure, which needs the stack.
 */
export const explainFailure = (error: unknown, schema: string): string | undefined =>
  explainCauses(error, (cause) => whyUnreachable(cause) ?? explain(cause, schema));

function explain(error: unknown, schema: string): string | undefined {
  const said = error instanceof Error ? error.message : '';
  if (error instanceof UnfitDatabase)
    return `No version of Paddock could work here: ${said}. Nothing was changed.`;
  const state = sqlStateOf(error);
  switch (state) {
    case undefined:
      return undefined;
    case '42501':
      return `The role in DATABASE_URL lacks a right: ${said}. Migrate with a role that may create the schema ${schema} and own its tables.`;
    case '55P03':
      return `A lock in the schema ${schema} stayed held for too long: ${said}. Nothing was changed; run it again when no long transaction is open.`;
    default:
      return ['08', '53', '57'].includes(state.slice(0, 2))
        ? `PostgreSQL could not run the migration now: ${said}. Nothing was changed; run it again.`
        : undefined;
  }
}
