import { timingSafeEqual } from 'node:crypto';
import {
  findOneTimeToken,
  findToken,
  type FoundToken,
  noteTokenUse,
  type TokenRights,
  useUpToken,
} from '@paddock/db/people/tokens';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { hashSecret, parseToken, type TokenParts } from './token-text.ts';

/** Who asks, and what they may do. */
export interface Bearer extends TokenRights {
  /** As `Caller.person`. */
  readonly person: string;
  /** The name of the token, also behind a session. Absent: somebody else vouches for the person. */
  readonly token?: string;
}

/** Compared for an id without a row, so that the time of an answer shows no id. */
const NO_HASH = '0'.repeat(64);

/**
 * The bearer of a token. Undefined: the token is unknown, revoked, wrong, or for one sign-in. Notes
 * its use.
 */
export async function checkToken(db: Kysely<Database>, text: string): Promise<Bearer | undefined> {
  const parts = parseToken(text);
  if (parts === undefined || parts.isOneTime) return undefined;
  return toBearer(db, parts, await findToken(db, parts.id));
}

/**
 * The bearer of a token for one sign-in, which this uses up. Undefined: the token is unknown,
 * revoked, wrong, used or too old.
 */
export async function useOneTimeToken(
  db: Kysely<Database>,
  text: string,
): Promise<Bearer | undefined> {
  const parts = parseToken(text);
  if (parts?.isOneTime !== true) return undefined;
  const found = await findOneTimeToken(db, parts.id);
  if (!proves(parts.secret, found) || !(await useUpToken(db, parts.id))) return undefined;
  return bearerOf(found);
}

/** The bearer of the token that was found, if the secret proves it. Notes its use. */
export async function toBearer(
  db: Kysely<Database>,
  { id, secret }: Pick<TokenParts, 'id' | 'secret'>,
  found: FoundToken | undefined,
): Promise<Bearer | undefined> {
  if (!proves(secret, found)) return undefined;
  if (!found.isUseNoted) await noteTokenUse(db, id);
  return bearerOf(found);
}

/** Whether the secret is the one of this row. The time it takes says nothing about the hash. */
export function proves<R extends { readonly secretSha256: string }>(
  secret: string,
  found: R | undefined,
): found is R {
  const isRight = timingSafeEqual(
    Buffer.from(hashSecret(secret)),
    Buffer.from(found?.secretSha256 ?? NO_HASH),
  );
  return found !== undefined && isRight;
}

const bearerOf = ({ name, access, narrowedTo }: FoundToken): Bearer => ({
  person: `token ${name}`,
  token: name,
  access,
  narrowedTo,
});
