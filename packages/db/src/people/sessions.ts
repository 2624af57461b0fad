import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { type FoundToken, RIGHTS, USE_IS_NOTED, withNarrowing } from './tokens.ts';

/** A working day. */
const LASTS = sql`interval '12 hours'`;

/** Of one token: a team may share it. The oldest ones end first. */
const MOST_OF_A_TOKEN = 100;

export interface SessionToStore {
  readonly id: string;
  readonly tokenId: string;
  /** In hexadecimal digits. */
  readonly secretSha256: string;
}

/** Stores a session. Deletes those that have expired, and those that are too many of its token. */
export async function storeSession(
  db: Kysely<Database>,
  { id, tokenId, secretSha256 }: SessionToStore,
): Promise<void> {
  await sql`
    with surplus as (
      select id from sessions where token_id = ${tokenId} order by created_at desc offset ${MOST_OF_A_TOKEN - 1}
    ), gone as (
      delete from sessions where expires_at < now() or id in (select id from surplus)
    )
    insert into sessions (id, token_id, secret_sha256, expires_at) values (${id}, ${tokenId}, ${secretSha256}, now() + ${LASTS})`.execute(
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
    .where('expires_at', '>', sql<Date>`now()`)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row && withNarrowing(row);
}

/** Ends a session; repeating it changes nothing. */
export async function deleteSession(db: Kysely<Database>, id: string): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute();
}
