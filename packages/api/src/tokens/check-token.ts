import { timingSafeEqual } from 'node:crypto';
import { isTooFarAhead } from '@paddock/db/instants';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import {
  hashSecret,
  NARROWED_TO,
  parseToken,
  type TokenParts,
  type TokenRights,
} from './tokens.ts';

export interface Bearer extends TokenRights {
  /** As `Caller.person`. */
  readonly person: string;
  /** The name of the token, also behind a session. Absent: somebody else vouches for the person. */
  readonly token?: string;
}

/** Compared for an id without a row, so that the time of an answer shows no id. */
const NO_HASH = '0'.repeat(64);

/** Undefined: the token is unknown, revoked, wrong, or for one sign-in. Notes its use. */
export async function checkToken(db: Db, text: string): Promise<Bearer | undefined> {
  const parts = parseToken(text);
  if (parts === undefined || parts.isOneTime) return undefined;
  return toBearer(db, parts, await findToken(db, parts.id));
}

/** Uses up a token for one sign-in. Undefined: it is unknown, revoked, wrong, used or too old. */
export async function useOneTimeToken(db: Db, text: string): Promise<Bearer | undefined> {
  const parts = parseToken(text);
  if (parts?.isOneTime !== true) return undefined;
  const found = await findOneTimeToken(db, parts.id);
  if (!proves(parts.secret, found) || !(await useUpToken(db, parts.id))) return undefined;
  return bearerOf(found);
}

/** The bearer of the token that was found, if the secret proves it. Notes its use. */
export async function toBearer(
  db: Db,
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

/** A token, for the check of its secret. */
export interface FoundToken extends TokenRights {
  readonly name: string;
  readonly secretSha256: string;
  /** Its last use was noted within the hour. Each request would else write a row. */
  readonly isUseNoted: boolean;
}

/** What requests need of the token behind them. */
export const RIGHTS = [
  'tokens.name',
  'tokens.access',
  NARROWED_TO,
  sql<boolean>`coalesce(last_used_at > now() - interval '1 hour', false)`.as('isUseNoted'),
] as const;

const selectToken = (db: Db, id: string) =>
  db
    .selectFrom('tokens')
    .select(RIGHTS)
    .select('secret_sha256 as secretSha256')
    .where('id', '=', id)
    .where('revoked_at', 'is', null);

export const findToken = (db: Db, id: string): Promise<FoundToken | undefined> =>
  selectToken(db, id).where('one_time', '=', false).executeTakeFirst();

/** A sign-in has an hour. */
const IS_TO_COME = sql<boolean>`one_time and last_used_at is null and created_at > now() - interval '1 hour' and not ${isTooFarAhead(sql`created_at`)}`;

export const findOneTimeToken = (db: Db, id: string): Promise<FoundToken | undefined> =>
  selectToken(db, id).where(IS_TO_COME).executeTakeFirst();

/** Uses up a token for one sign-in. False: another request was first, or its time is over. */
async function useUpToken(db: Db, id: string): Promise<boolean> {
  const row = await db
    .updateTable('tokens')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where(IS_TO_COME)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

async function noteTokenUse(db: Db, id: string): Promise<void> {
  await db
    .updateTable('tokens')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}
