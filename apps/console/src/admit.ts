import type { IncomingMessage } from 'node:http';
import { type Bearer, checkToken } from '@paddock/api/tokens/check-token';
import { parseToken } from '@paddock/api/tokens/token-text';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { createPlaces } from './places.ts';

/** `stranger`: the request has no good token. `busy`: there is no place for it now. */
export type Admission =
  | { readonly bearer: Bearer; readonly release: () => void }
  | 'stranger'
  | 'busy';

export type Admit = (request: IncomingMessage) => Promise<Admission>;

export interface AdmitOptions {
  /** The connections of answers. */
  readonly db: Kysely<Database>;
  /** Connections of their own for tokens that were never good. */
  readonly unproven: Kysely<Database>;
  /** Most requests of one token at a time. */
  readonly mostEach: number;
}

/** Most requests at a time: each waits for a connection, with at most one body in memory. */
const MOST = 200;

/** Most tokens that are known to have been good. */
const MOST_PROVEN = 10_000;

/**
 * Checks each request's token in the database, so that a revocation holds at once. Tokens that were
 * never good here have their own places and connections: a flood of made-up ones keeps no good one
 * waiting.
 */
export function createAdmit({ db, unproven, mostEach }: AdmitOptions): Admit {
  const proven = new Set<string>();
  const lanes = {
    proven: { db, places: createPlaces({ most: MOST, mostEach }) },
    unproven: { db: unproven, places: createPlaces({ most: MOST, mostEach }) },
  };

  return async ({ headers: { authorization = '' } }) => {
    const [, text = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
    const id = parseToken(text)?.id;
    if (id === undefined) return 'stranger';
    const lane = proven.has(id) ? lanes.proven : lanes.unproven;
    const release = lane.places.take(id);
    if (release === undefined) return 'busy';
    const bearer = await checkToken(lane.db, text).catch((error: unknown) => {
      release();
      throw error;
    });
    if (bearer === undefined) {
      proven.delete(id);
      release();
      return 'stranger';
    }
    if (proven.size < MOST_PROVEN) proven.add(id);
    return { bearer, release };
  };
}
