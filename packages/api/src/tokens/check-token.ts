import { timingSafeEqual } from 'node:crypto';
import {
  findToken,
  type FoundToken,
  noteTokenUse,
  type TokenRights,
} from '@paddock/db/people/tokens';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { hashSecret, parseToken, type TokenParts } from './token-text.ts';

/** Whose token it is, and what it may do. */
export interface Bearer extends TokenRights {
  /** As `Caller.person`. */
  readonly person: string;
  /** The name of the token, also behind a session. */
  readonly token: string;
}

/** Compared for an id without a row, so that the time of an answer shows no id. */
const NO_HASH = '0'.repeat(64);

/** The bearer of a token; undefined: the token is unknown, revoked or wrong. Notes its use. */
export async function checkToken(db: Kysely<Database>, text: string): Promise<Bearer | undefined> {
  const parts = parseToken(text);
  return parts && toBearer(db, parts, await findToken(db, parts.id));
}

/** The bearer of the token that was found, if the secret proves it. */
export async function toBearer(
  db: Kysely<Database>,
  { id, secret }: TokenParts,
  found: FoundToken | undefined,
): Promise<Bearer | undefined> {
  const isRight = timingSafeEqual(
    Buffer.from(hashSecret(secret)),
    Buffer.from(found?.secretSha256 ?? NO_HASH),
  );
  if (found === undefined || !isRight) return undefined;
  if (!found.isUseNoted) await noteTokenUse(db, id);
  const { name, access, narrowedTo } = found;
  return { person: `token ${name}`, token: name, access, narrowedTo };
}
