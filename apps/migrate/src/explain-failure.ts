import { sqlStateOf } from '@paddock/db/connection/errors';
import { UnfitDatabase } from '@paddock/db/migrate';

/**
 * A sentence for a failure that the operator can mend: no server, wrong password, missing right,
 * held lock. Undefined for any other failure, which needs the stack.
 */
export function explainFailure(error: unknown, schema: string): string | undefined {
  for (const cause of causes(error)) {
    const sentence = explain(cause, schema);
    if (sentence !== undefined) return sentence;
  }
  return undefined;
}

/** node-postgres gives these two failures no code. */
const WITHOUT_TLS = 'The server does not support SSL connections';
const WITHOUT_ANSWER = 'Connection terminated due to connection timeout';

function explain(error: unknown, schema: string): string | undefined {
  const said = error instanceof Error ? error.message : '';
  if (error instanceof UnfitDatabase)
    return `No version of Paddock could work here: ${said}. Nothing was changed.`;
  const state = sqlStateOf(error);
  switch (state) {
    case undefined:
      if (said === WITHOUT_TLS)
        return `${said}: encrypt the server, or leave sslmode out of DATABASE_URL.`;
      if (said === WITHOUT_ANSWER) {
        return 'PostgreSQL cannot be reached: nothing answered in time. Check host and port in DATABASE_URL, and whether a firewall blocks them.';
      }
      return systemCodeOf(error) === undefined
        ? undefined
        : `PostgreSQL cannot be reached: ${said || systemCodeOf(error)}. Check DATABASE_URL, and that the server runs.`;
    case '28000':
    case '28P01':
      return `PostgreSQL refused the login: ${said}. Check the user and the password in DATABASE_URL.`;
    case '3D000':
      return `PostgreSQL has no such database: ${said}. Create it, or correct DATABASE_URL.`;
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

/** The error and its causes. An AggregateError has one error per address tried. */
function* causes(error: unknown): Generator {
  for (let current = error, depth = 0; current !== undefined && depth < 5; depth++) {
    yield current;
    if (current instanceof AggregateError) yield* current.errors;
    current = current instanceof Error ? current.cause : undefined;
  }
}

/** The code from the operating system or TLS, such as ECONNREFUSED or CERT_HAS_EXPIRED. */
function systemCodeOf(error: unknown): string | undefined {
  const code =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^E[A-Z]+$|CERT|^UNABLE_TO_|^ERR_(?:SSL|TLS)_/.test(code)
    ? code
    : undefined;
}
