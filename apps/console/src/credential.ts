import type { IncomingMessage } from 'node:http';
import { checkSession, type SessionParts } from '@paddock/api/sessions/sessions';
import { type Bearer, checkToken } from '@paddock/api/tokens/check-token';
import { parseToken } from '@paddock/api/tokens/token-text';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { sessionOf } from './session/cookie.ts';

/** What a request shows to say who asks. It may be false. */
export interface Credential {
  /** Of the token or the session. */
  readonly id: string;
  /** Of the token, also behind a session: all its sessions share its places. */
  readonly tokenId: string;
  /** Absent: the request has the token itself. */
  readonly session?: SessionParts;
  readonly check: (db: Kysely<Database>) => Promise<Bearer | undefined>;
}

/** The token in the header `Authorization`; without that header the session of the cookie. */
export function credentialOf({ method = '', headers }: IncomingMessage): Credential | undefined {
  if (headers.authorization !== undefined) return tokenIn(headers.authorization);
  const session = sessionOf(method, headers);
  return (
    session && {
      id: session.id,
      tokenId: session.tokenId,
      session,
      check: (db) => checkSession(db, session),
    }
  );
}

function tokenIn(authorization: string): Credential | undefined {
  const [, text = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  const id = parseToken(text)?.id;
  return id === undefined ? undefined : { id, tokenId: id, check: (db) => checkToken(db, text) };
}
