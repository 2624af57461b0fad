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
import type { Db } from '@paddock/db/schema/tables';
import { createPlaces } from './places.ts';
import { isFromPage, sessionOf } from './sign-in/cookies.ts';
import type { ProxiedIdentity } from './sign-in/identity.ts';

export interface Credential {
  /** Of the token, the session or the person. */
  readonly id: string;
  /** Of the token, also behind a session, or of the person: all their sessions share its places. */
  readonly ownerId: string;
  /** Absent: the request has the token itself, or a proxy names the person. */
  readonly session?: SessionParts;
  readonly check: (db: Db) => Promise<Bearer | undefined>;
}

export interface CredentialOptions {
  readonly accessOf: AccessOf;
  readonly proxiedIdentity: ProxiedIdentity;
}

/**
 * The token in the header `Authorization`; without one the session of the cookie; without that whom
 * a proxy names. `forSignIn`: a token for one sign-in will do, too, and its check uses it up.
 */
export function credentialOf(
  request: Pick<IncomingMessage, 'method' | 'headers' | 'socket'>,
  { accessOf, proxiedIdentity }: CredentialOptions,
  forSignIn = false,
): Credential | undefined {
  const { method = '', headers } = request;
  const token = tokenIn(headers.authorization ?? '', forSignIn);
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
}

function tokenIn(authorization: string, forSignIn: boolean): Credential | undefined {
  const [, text = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  const token = parseToken(text);
  if (token === undefined) return undefined;
  const { id, isOneTime } = token;
  const check = forSignIn && isOneTime ? useOneTimeToken : checkToken;
  return { id, ownerId: id, check: (db) => check(db, text) };
}

export interface Admitted {
  readonly bearer: Bearer;
  readonly credential: Credential;
  readonly release: () => void;
}

/**
 * `stranger`: nothing good in the request says who asks. `busy`: there is no place for it now.
 * `forSignIn`: the request begins a session.
 */
export type Admit = (
  request: IncomingMessage,
  forSignIn: boolean,
) => Promise<Admitted | 'stranger' | 'busy'>;

interface AdmitOptions extends CredentialOptions {
  readonly db: Db;
  /** Connections of their own for tokens that were never good. */
  readonly unproven: Db;
  /** Most requests of one token at a time; others of it wait. */
  readonly mostEach: number;
}

/** Most requests at a time: each waits for a connection, with at most one body in memory. */
const MOST = 200;

/** Of one token: its open pages ask at the same instant, when something changes. */
const MOST_WAITING_EACH = 100;

/** Most tokens and sessions that are known to have been good. */
const MOST_PROVEN = 10_000;

/**
 * Checks each request's token, or its session's, in the database, so that a revocation holds at once. Tokens that were
 * never good here have their own places and connections: a flood of made-up ones keeps no good one
 * waiting.
 */
export function createAdmit({ db, unproven, mostEach, ...options }: AdmitOptions): Admit {
  const proven = new Set<string>();
  const most = { most: MOST, mostEach, mostWaitingEach: MOST_WAITING_EACH };
  const lanes = {
    proven: { db, take: createPlaces(most) },
    unproven: { db: unproven, take: createPlaces(most) },
  };
  return async (request, forSignIn) => {
    const credential = credentialOf(request, options, forSignIn);
    if (credential === undefined) return 'stranger';
    const { id, ownerId, check } = credential;
    const lane = proven.has(id) ? lanes.proven : lanes.unproven;
    const release = await lane.take(ownerId);
    if (release === undefined) return 'busy';
    const bearer = await check(lane.db).catch((error: unknown) => {
      release();
      throw error;
    });
    if (bearer === undefined) {
      proven.delete(id);
      release();
      return 'stranger';
    }
    if (proven.size < MOST_PROVEN) proven.add(id);
    return { bearer, credential, release };
  };
}
