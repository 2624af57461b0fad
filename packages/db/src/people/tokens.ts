import { type Kysely, sql } from 'kysely';
import { isTooFarAhead } from '../instants.ts';
import type { TokenSubject, TokensTable } from '../schema/people-tables.ts';
import type { Database } from '../schema/tables.ts';

/** What a token may do. */
export interface TokenRights {
  readonly access: TokensTable['access'];
  /** It calls this endpoint only, and only for this subject. */
  readonly narrowedTo: { readonly endpoint: string; readonly subject: TokenSubject } | null;
}

/** A token as people see it: its secret is nowhere. */
export interface Token extends TokenRights {
  readonly name: string;
  /** It begins one session of the page, and proves nothing else. */
  readonly isOneTime: boolean;
  readonly createdBy: string;
  readonly createdAt: Date;
  /** To the hour. */
  readonly lastUsedAt: Date | null;
  readonly revokedBy: string | null;
  readonly revokedAt: Date | null;
}

export interface TokenToStore extends TokenRights {
  readonly id: string;
  readonly name: string;
  /** In hexadecimal digits. */
  readonly secretSha256: string;
  readonly isOneTime: boolean;
  readonly createdBy: string;
}

/** Stores a token. Undefined: there is one of this name, revoked or not. */
export async function storeToken(
  db: Kysely<Database>,
  { id, name, secretSha256, access, narrowedTo, isOneTime, createdBy }: TokenToStore,
): Promise<Token | undefined> {
  const row = await db
    .insertInto('tokens')
    .values({
      id,
      name,
      secret_sha256: secretSha256,
      access,
      endpoint: narrowedTo?.endpoint ?? null,
      subject: narrowedTo === null ? null : JSON.stringify(narrowedTo.subject),
      one_time: isOneTime,
      created_by: createdBy,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  return row && toToken(row);
}

/** Tokens in the order of their names, from the first one after `after`. */
export async function listTokens(
  db: Kysely<Database>,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<Token[]> {
  const rows = await db
    .selectFrom('tokens')
    .select(COLUMNS)
    .$if(after !== undefined, (query) => query.where('name', '>', after ?? ''))
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(toToken);
}

/** Revokes a token; repeating it changes nothing. Undefined: there is none of this name. */
export async function revokeToken(
  db: Kysely<Database>,
  name: string,
  revokedBy: string,
): Promise<Token | undefined> {
  const row = await db
    .updateTable('tokens')
    .set({
      revoked_at: sql`coalesce(revoked_at, now())`,
      revoked_by: sql`coalesce(revoked_by, ${revokedBy})`,
    })
    .where('name', '=', name)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row && toToken(row);
}

/** A token, for the check of its secret. */
export interface FoundToken extends TokenRights {
  readonly name: string;
  readonly secretSha256: string;
  /** Its last use was noted within the hour. Each request would else write a row. */
  readonly isUseNoted: boolean;
}

/** The token of this id, unless it is revoked or for one sign-in. */
export async function findToken(db: Kysely<Database>, id: string): Promise<FoundToken | undefined> {
  const row = await selectToken(db, id).where('one_time', '=', false).executeTakeFirst();
  return row && withNarrowing(row);
}

/** The token of this id, if it is for one sign-in, which is still to come. */
export async function findOneTimeToken(
  db: Kysely<Database>,
  id: string,
): Promise<FoundToken | undefined> {
  const row = await selectToken(db, id).where(IS_TO_COME).executeTakeFirst();
  return row && withNarrowing(row);
}

/** Uses up a token for one sign-in. False: another request was first, or its time is over. */
export async function useUpToken(db: Kysely<Database>, id: string): Promise<boolean> {
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

/** A sign-in has an hour. */
const IS_TO_COME = sql<boolean>`one_time and last_used_at is null and created_at > now() - interval '1 hour' and not ${isTooFarAhead(sql`created_at`)}`;

const selectToken = (db: Kysely<Database>, id: string) =>
  db
    .selectFrom('tokens')
    .select(RIGHTS)
    .select(['secret_sha256 as secretSha256', USE_IS_NOTED])
    .where('id', '=', id)
    .where('revoked_at', 'is', null);

/** What requests need of the token behind them. */
export const RIGHTS = [
  'tokens.name',
  'tokens.access',
  'tokens.endpoint',
  'tokens.subject',
] as const;

export const USE_IS_NOTED =
  sql<boolean>`coalesce(last_used_at > now() - interval '1 hour', false)`.as('isUseNoted');

/** Replaces the two columns of a narrowed token. */
export const withNarrowing = <R extends Narrowing>({ endpoint, subject, ...row }: R) => ({
  ...row,
  narrowedTo: narrowing({ endpoint, subject }),
});

/** Notes that a token is used. */
export async function noteTokenUse(db: Kysely<Database>, id: string): Promise<void> {
  await db
    .updateTable('tokens')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}

const COLUMNS = [
  'name',
  'access',
  'endpoint',
  'subject',
  'one_time as isOneTime',
  'created_by as createdBy',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'revoked_by as revokedBy',
  'revoked_at as revokedAt',
] as const;

interface Narrowing {
  readonly endpoint: string | null;
  readonly subject: TokenSubject | null;
}

const narrowing = ({ endpoint, subject }: Narrowing): TokenRights['narrowedTo'] =>
  endpoint === null || subject === null ? null : { endpoint, subject };

const toToken = (row: Omit<Token, 'narrowedTo'> & Narrowing): Token => withNarrowing(row);
