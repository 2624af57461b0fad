import type { IncomingMessage } from 'node:http';
import type { Bearer } from '@paddock/api/tokens/check-token';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import type { Credential, CredentialOf } from './credential.ts';
import { createPlaces } from './places.ts';

/** `stranger`: nothing good in the request says who asks. `busy`: there is no place for it now. */
export type Admission =
  | { readonly bearer: Bearer; readonly credential: Credential; readonly release: () => void }
  | 'stranger'
  | 'busy';

/** `forSignIn`: the request begins a session, so that also a token for one sign-in will do. */
export type Admit = (
  request: IncomingMessage,
  options?: { readonly forSignIn?: boolean },
) => Promise<Admission>;

export interface AdmitOptions {
  readonly credentialOf: CredentialOf;
  /** The connections of answers. */
  readonly db: Kysely<Database>;
  /** Connections of their own for tokens that were never good. */
  readonly unproven: Kysely<Database>;
  /** Most requests of one token at a time; others of it wait. */
  readonly mostEach: number;
}

/** Most requests at a time: each waits for a connection, with at most one body in memory. */
const MOST = 200;

/**
 * Of one token: its open pages ask at the same instant, when something changes, and no page of
 * theirs should be refused for that.
 */
const MOST_WAITING_EACH = 100;

/** As long as a statement may take. */
const LONGEST_WAIT_MS = 5_000;

/** Most tokens and sessions that are known to have been good. */
const MOST_PROVEN = 10_000;

/**
 * Checks each request's token, or its session's, in the database, so that a revocation holds at once. Tokens that were
 * never good here have their own places and connections: a flood of made-up ones keeps no good one
 * waiting.
 */
export function createAdmit({ credentialOf, db, unproven, mostEach }: AdmitOptions): Admit {
  const proven = new Set<string>();
  const most = { most: MOST, mostEach, mostWaitingEach: MOST_WAITING_EACH };
  const lanes = {
    proven: { db, places: createPlaces(most) },
    unproven: { db: unproven, places: createPlaces(most) },
  };

  return async (request, { forSignIn = false } = {}) => {
    const credential = credentialOf(request);
    if (credential === undefined || (credential.isForSignIn && !forSignIn)) return 'stranger';
    const { id, ownerId, check } = credential;
    const lane = proven.has(id) ? lanes.proven : lanes.unproven;
    const release = await lane.places.await(ownerId, LONGEST_WAIT_MS);
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
