import type { IncomingMessage } from 'node:http';
import {
  type AccessOf,
  bearerWith,
  checkSession,
  ownerIdOf,
  type SessionParts,
} from '@paddock/api/sessions/sessions';
import { type Bearer, checkToken, useOneTimeToken } from '@paddock/api/tokens/check-token';
import { parseToken } from '@paddock/api/tokens/tokens';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { isFromPage, sessionOf } from './session/cookie.ts';
import type { ProxiedIdentity } from './sign-in/proxy.ts';

/** What a request shows to say who asks. It may be false. */
export interface Credential {
  /** Of the token, the session or the person. */
  readonly id: string;
  /** Of the token, also behind a session, or of the person: all their sessions share its places. */
  readonly ownerId: string;
  /** Absent: the request has the token itself, or a proxy names the person. */
  readonly session?: SessionParts;
  /** It proves nothing but one sign-in, and `check` uses it up. */
  readonly isForSignIn?: true;
  readonly check: (db: Kysely<Database>) => Promise<Bearer | undefined>;
}

export interface CredentialOptions {
  readonly accessOf: AccessOf;
  readonly proxiedIdentity: ProxiedIdentity;
}

export type CredentialOf = (
  request: Pick<IncomingMessage, 'method' | 'headers' | 'socket'>,
) => Credential | undefined;

/**
 * The token in the header `Authorization`; without one the session of the cookie; without that whom
 * a proxy names.
 */
export const createCredentialOf =
  ({ accessOf, proxiedIdentity }: CredentialOptions): CredentialOf =>
  (request) => {
    const { method = '', headers } = request;
    const token = tokenIn(headers.authorization ?? '');
    if (token !== undefined) return token;
    const identity = isFromPage(method, headers) ? proxiedIdentity(request) : undefined;
    // A proxy may put a header of its own there. From anybody else it is a token that is none.
    if (headers.authorization !== undefined && identity === undefined) return undefined;
    const session = sessionOf(method, headers);
    if (session !== undefined) {
      const { id, ownerId } = session;
      return { id, ownerId, session, check: (db) => checkSession(db, session, accessOf) };
    }
    if (identity === undefined) return undefined;
    const ownerId = ownerIdOf(identity.person);
    return { id: ownerId, ownerId, check: () => Promise.resolve(bearerWith(identity, accessOf)) };
  };

function tokenIn(authorization: string): Credential | undefined {
  const [, text = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  const token = parseToken(text);
  if (token === undefined) return undefined;
  const { id, isOneTime } = token;
  return isOneTime
    ? { id, ownerId: id, isForSignIn: true, check: (db) => useOneTimeToken(db, text) }
    : { id, ownerId: id, check: (db) => checkToken(db, text) };
}
