import { type Kysely, sql } from 'kysely';
import { isTooFarAhead, SESSION } from '../instants.ts';
import type { Database } from '../schema/tables.ts';
import { type FoundToken, RIGHTS, USE_IS_NOTED, withNarrowing } from './tokens.ts';

/** A working day. */
const LASTS = sql`interval ${sql.lit(SESSION)}`;

/** SQL over a row of sessions: it goes on. */
export const GOES_ON = sql<boolean>`(expires_at > now() and not ${isTooFarAhead(sql`expires_at`, SESSION)})`;

/** Of one owner: a team may share a token. The oldest ones end first. */
const MOST_OF_AN_OWNER = 100;

/** Somebody for whom an identity provider vouches. */
export interface Identity {
  /** As `person ada@example.com`. */
  readonly person: string;
  readonly groups: readonly string[];
}

export interface SessionToStore {
  readonly id: string;
  /** The id of a token, or whoever has none. */
  readonly owner: string | Identity;
  /** In hexadecimal digits. */
  readonly secretSha256: string;
}

/** Stores a session. Deletes those that have expired, and those that are too many of its owner. */
export async function storeSession(
  db: Kysely<Database>,
  { id, owner, secretSha256 }: SessionToStore,
): Promise<void> {
  const [tokenId, person, groups] =
    typeof owner === 'string'
      ? [owner, null, null]
      : [null, owner.person, JSON.stringify(owner.groups)];
  const same = tokenId === null ? sql`person = ${person}` : sql`token_id = ${tokenId}`;
  await sql`
    with surplus as (
      select id from sessions where ${same} order by created_at desc offset ${MOST_OF_AN_OWNER - 1}
    ), gone as (
      delete from sessions where not ${GOES_ON} or id in (select id from surplus)
    )
    insert into sessions (id, token_id, person, groups, secret_sha256, expires_at)
    values (${id}, ${tokenId}, ${person}, ${groups}, ${secretSha256}, now() + ${LASTS})`.execute(
    db,
  );
}

/** The token of this session; its hash is the session's. Undefined: it is over, or the token is. */
export async function findSession(
  db: Kysely<Database>,
  { id, tokenId }: { readonly id: string; readonly tokenId: string },
): Promise<FoundToken | undefined> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('tokens', 'tokens.id', 'sessions.token_id')
    .select(RIGHTS)
    .select(['sessions.secret_sha256 as secretSha256', USE_IS_NOTED])
    .where('sessions.id', '=', id)
    .where('sessions.token_id', '=', tokenId)
    .where(GOES_ON)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row && withNarrowing(row);
}

/** Whose session this is, if it is of somebody without a token. Undefined: it is over. */
export async function findIdentity(
  db: Kysely<Database>,
  id: string,
): Promise<(Identity & { readonly secretSha256: string }) | undefined> {
  return db
    .selectFrom('sessions')
    .select(['secret_sha256 as secretSha256'])
    .select([sql<string>`person`.as('person'), sql<string[]>`groups`.as('groups')])
    .where('id', '=', id)
    .where('person', 'is not', null)
    .where(GOES_ON)
    .executeTakeFirst();
}

/** Ends a session; repeating it changes nothing. */
export async function deleteSession(db: Kysely<Database>, id: string): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute();
}

/** A person with sessions that no token began. */
export interface SignedIn {
  /** As `person ada@example.com`. */
  readonly person: string;
  readonly sessions: number;
  /** When the newest of them began. */
  readonly since: Date;
  /** When the last of them ends by itself. */
  readonly until: Date;
}

/** Who is signed in, by name. */
export async function listSignedIn(
  db: Kysely<Database>,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<SignedIn[]> {
  const { rows } = await sql<SignedIn>`
    select person, count(*)::integer as sessions, max(created_at) as since, max(expires_at) as until
    from sessions where person is not null and person > ${after ?? ''} and ${GOES_ON}
    group by person order by person limit ${limit}`.execute(db);
  return rows;
}

/** Ends all sessions of a person. Returns how many that were. */
export async function deleteSessionsOf(db: Kysely<Database>, person: string): Promise<number> {
  const { rows } = await sql`
    delete from sessions where person is not null and person = ${person} returning 1`.execute(db);
  return rows.length;
}
