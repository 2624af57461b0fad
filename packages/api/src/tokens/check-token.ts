import { timingSafeEqual } from 'node:crypto';
import { findToken, noteTokenUse, type TokenRights } from '@paddock/db/people/tokens';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { hashSecret, parseToken } from './token-text.ts';

/** Whose token it is, and what it may do. */
export interface Bearer extends TokenRights {
  /** As `Caller.person`. */
  readonly person: string;
}

/** Compared for an id without a row, so that the time of an answer shows no id. */
const NO_HASH = '0'.repeat(64);

/** The bearer of a token; undefined: the token is unknown, revoked or wrong. Notes its use. */
export async function checkToken(db: Kysely<Database>, text: string): Promise<Bearer | undefined> {
  const parts = parseToken(text);
  if (parts === undefined) return undefined;
  const found = await findToken(db, parts.id);
  const isRight = timingSafeEqual(
    Buffer.from(hashSecret(parts.secret)),
    Buffer.from(found?.secretSha256 ?? NO_HASH),
  );
  if (found === undefined || !isRight) return undefined;
  if (!found.isUseNoted) await noteTokenUse(db, parts.id);
  const { name, access, narrowedTo } = found;
  return { person: `token ${name}`, access, narrowedTo };
}
