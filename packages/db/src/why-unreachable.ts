import { asRecord } from '@paddock/domain/pools/as-record';
import { codeOf, sqlStateOf } from './connection/errors.ts';

/** node-postgres gives these two failures no code. */
const WITHOUT_TLS = 'The server does not support SSL connections';
const WITHOUT_ANSWER = 'Connection terminated due to connection timeout';

/**
 * A sentence for a failure to connect that the operator can mend: no server, no TLS, a wrong
 * password, no such database. Undefined for any other failure.
 */
export function whyUnreachable(error: unknown): string | undefined {
  const { message } = asRecord(error);
  const said = typeof message === 'string' ? message : '';
  switch (sqlStateOf(error)) {
    case undefined:
      if (said === WITHOUT_TLS)
        return `${said}: encrypt the server, or leave sslmode out of DATABASE_URL.`;
      if (said === WITHOUT_ANSWER) {
        return 'PostgreSQL cannot be reached: nothing answered in time. Check host and port in DATABASE_URL, and whether a firewall blocks them.';
      }
      return isOfSystem(error)
        ? `PostgreSQL cannot be reached: ${said || String(codeOf(error))}. Check DATABASE_URL, and that the server runs.`
        : undefined;
    case '28000':
    case '28P01':
      return `PostgreSQL refused the login: ${said}. Check the user and the password in DATABASE_URL, and that the role and pg_hba.conf let it in.`;
    case '3D000':
      return `PostgreSQL has no such database: ${said}. Create it, or correct DATABASE_URL.`;
    default:
      return undefined;
  }
}

/** The first sentence that `explain` has for the error, its causes, or what an AggregateError holds: one error per address tried. */
export function explainCauses(
  error: unknown,
  explain: (cause: unknown) => string | undefined,
): string | undefined {
  for (let current = error, depth = 0; current !== undefined && depth < 5; depth++) {
    const several: unknown[] = current instanceof AggregateError ? current.errors : [];
    for (const cause of [current, ...several]) {
      const sentence = explain(cause);
      if (sentence !== undefined) return sentence;
    }
    current = current instanceof Error ? current.cause : undefined;
  }
  return undefined;
}

/** It has a code of the operating system or of TLS, such as ECONNREFUSED or CERT_HAS_EXPIRED. */
function isOfSystem(error: unknown): boolean {
  const code = codeOf(error);
  return typeof code === 'string' && /^E[A-Z]+$|CERT|^UNABLE_TO_|^ERR_(?:SSL|TLS)_/.test(code);
}
