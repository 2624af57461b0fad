import { createHash } from 'node:crypto';
import {
  deleteSession,
  findIdentity,
  findSession,
  type Identity,
  storeSession,
} from '@paddock/db/people/sessions';
import type { TokenRights } from '@paddock/db/people/tokens';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { type Bearer, proves, toBearer } from '../tokens/check-token.ts';
import { hashSecret, newSecret } from '../tokens/token-text.ts';

/** A session in its parts. `id` finds its row, `secret` proves it. */
export interface SessionParts {
  readonly id: string;
  /** The id of its token, or `ownerIdOf` the person who has none. */
  readonly ownerId: string;
  readonly secret: string;
}

/** What somebody of these groups may do; undefined: nothing. */
export type AccessOf = (groups: readonly string[]) => TokenRights['access'] | undefined;

const SESSION = /^([0-9a-f]{16})_([0-9a-f]{16})_([\w-]{43})$/;

/** Undefined: the text is no session. */
export function parseSession(text: string): SessionParts | undefined {
  const [, ownerId, id, secret] = SESSION.exec(text) ?? [];
  return ownerId === undefined || id === undefined || secret === undefined
    ? undefined
    : { id, ownerId, secret };
}

/** Of a person, in the form of a token's id. */
export const ownerIdOf = (person: string): string =>
  createHash('sha256').update(person).digest('hex').slice(0, 16);

/**
 * Begins a session of a good token, by its id, or of a person, and returns its text, which only its
 * cookie ever has.
 */
export async function beginSession(
  db: Kysely<Database>,
  owner: string | Identity,
): Promise<string> {
  const { id, secret } = newSecret();
  await storeSession(db, { id, owner, secretSha256: hashSecret(secret) });
  return `${typeof owner === 'string' ? owner : ownerIdOf(owner.person)}_${id}_${secret}`;
}

/**
 * Whose session it is. Undefined: it is over or wrong, its token is revoked, or the person's groups
 * may do nothing (any longer).
 */
export async function checkSession(
  db: Kysely<Database>,
  parts: SessionParts,
  accessOf: AccessOf,
): Promise<Bearer | undefined> {
  const { id, ownerId, secret } = parts;
  const found = await findSession(db, { id, tokenId: ownerId });
  if (found !== undefined) return toBearer(db, { id: ownerId, secret }, found);
  const identity = await findIdentity(db, id);
  if (!proves(secret, identity) || ownerIdOf(identity.person) !== ownerId) return undefined;
  return bearerWith(identity, accessOf);
}

/** What a person may do for whom somebody else vouches. Undefined: nothing. */
export function bearerWith({ person, groups }: Identity, accessOf: AccessOf): Bearer | undefined {
  const access = accessOf(groups);
  return access && { person, access, narrowedTo: null };
}

export const endSession = (db: Kysely<Database>, { id }: SessionParts): Promise<void> =>
  deleteSession(db, id);
