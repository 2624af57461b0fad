import { deleteSession, findSession, storeSession } from '@paddock/db/people/sessions';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { type Bearer, toBearer } from '../tokens/check-token.ts';
import { hashSecret, newToken } from '../tokens/token-text.ts';

/** A session in its parts. `id` finds its row, `secret` proves it. */
export interface SessionParts {
  readonly id: string;
  readonly tokenId: string;
  readonly secret: string;
}

const SESSION = /^([0-9a-f]{16})_([0-9a-f]{16})_([\w-]{43})$/;

/** Undefined: the text is no session. */
export function parseSession(text: string): SessionParts | undefined {
  const [, tokenId, id, secret] = SESSION.exec(text) ?? [];
  return tokenId === undefined || id === undefined || secret === undefined
    ? undefined
    : { id, tokenId, secret };
}

/** Begins a session of a good token, and returns its text, which only its cookie ever has. */
export async function beginSession(db: Kysely<Database>, tokenId: string): Promise<string> {
  const { id, secret } = newToken();
  await storeSession(db, { id, tokenId, secretSha256: hashSecret(secret) });
  return `${tokenId}_${id}_${secret}`;
}

/** The bearer of a session's token; undefined: the session is over or wrong, or its token revoked. */
export const checkSession = async (
  db: Kysely<Database>,
  parts: SessionParts,
): Promise<Bearer | undefined> =>
  toBearer(db, { id: parts.tokenId, secret: parts.secret }, await findSession(db, parts));

export const endSession = (db: Kysely<Database>, { id }: SessionParts): Promise<void> =>
  deleteSession(db, id);
