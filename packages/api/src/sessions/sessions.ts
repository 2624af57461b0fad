import { createHash } from 'node:crypto';
import { isTooFarAhead, SESSION } from '@paddock/db/instants';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { z } from 'zod';
import { type Bearer, type FoundToken, proves, RIGHTS, toBearer } from '../tokens/check-token.ts';
import { hashSecret, newSecret, type TokenRights } from '../tokens/tokens.ts';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { act, note } from '../actions/list-actions.ts';

/** A session in its parts. `id` finds its row, `secret` proves it. */
export interface SessionParts {
  readonly id: string;
  /** The id of its token, or `ownerIdOf` the person who has none. */
  readonly ownerId: string;
  readonly secret: string;
}

/** What somebody of these groups may do; undefined: nothing. */
export type AccessOf = (groups: readonly string[]) => TokenRights['access'] | undefined;

const TEXT = /^([0-9a-f]{16})_([0-9a-f]{16})_([\w-]{43})$/;

/** Undefined: the text is no session. */
export function parseSession(text: string): SessionParts | undefined {
  const [, ownerId, id, secret] = TEXT.exec(text) ?? [];
  return ownerId === undefined || id === undefined || secret === undefined
    ? undefined
    : { id, ownerId, secret };
}

/** Of a person, in the form of a token's id. */
export const ownerIdOf = (person: string): string =>
  createHash('sha256').update(person).digest('hex').slice(0, 16);

/** Undefined: it is over or wrong, its token is revoked, or the person's groups may nothing. */
export async function checkSession(
  db: Db,
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

/** Ends a session; repeating it changes nothing. */
export async function endSession(db: Db, { id }: SessionParts): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute();
}

/** A working day. */
const LASTS = sql`interval ${sql.lit(SESSION)}`;

/** SQL over a row of sessions: it goes on. */
export const GOES_ON = sql<boolean>`(expires_at > now() and not ${isTooFarAhead(sql`expires_at`, SESSION)})`;

/** Of one owner: a team may share a token. The oldest ones end first. */
const MOST_OF_AN_OWNER = 100;

export interface Identity {
  readonly person: string;
  readonly groups: readonly string[];
}

/**
 * Begins a session of a good token, by its id, or of a person, and returns its text, which only its
 * cookie ever has. Deletes those that have expired, and those that are too many of its owner.
 */
export async function beginSession(db: Db, owner: string | Identity): Promise<string> {
  const { id, secret } = newSecret();
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
    values (${id}, ${tokenId}, ${person}, ${groups}, ${hashSecret(secret)}, now() + ${LASTS})`.execute(
    db,
  );
  return `${typeof owner === 'string' ? owner : ownerIdOf(owner.person)}_${id}_${secret}`;
}

/** The token of this session; its hash is the session's. Undefined: it is over, or the token is. */
export const findSession = (
  db: Db,
  { id, tokenId }: { readonly id: string; readonly tokenId: string },
): Promise<FoundToken | undefined> =>
  db
    .selectFrom('sessions')
    .innerJoin('tokens', 'tokens.id', 'sessions.token_id')
    .select(RIGHTS)
    .select('sessions.secret_sha256 as secretSha256')
    .where('sessions.id', '=', id)
    .where('sessions.token_id', '=', tokenId)
    .where(GOES_ON)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();

/** Whose session this is, if it is of somebody without a token. Undefined: it is over. */
export async function findIdentity(
  db: Db,
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

/** A person’s name at the identity provider. */
const personName = z.string().min(1).max(200);

/** As the audit names them: no token has such a name. */
const personOf = (name: string): string => `person ${name}`;

const signedIn = z.object({
  person: z.string(),
  sessions: z.int(),
  since: instant.describe('When the newest began'),
  until: instant.describe('When the last one ends by itself'),
});

export const listSessionsEndpoint = endpoint({
  name: 'listSessions',
  path: '/api/v1/sessions',
  summary: 'Lists who has signed in by the identity provider, by name.',
  access: 'operate',
  input: z.object(pageInput(z.tuple([personName]))),
  output: pageOf(signedIn),
  answer: async ({ db }, input) => toPage(await listSignedIn(db, input), input.limit),
});

/** SQL: the name of a person whom the provider vouched for. */
const PERSON = sql<string>`substr(s.person, ${sql.lit(personOf('').length + 1)})`;

const listSignedIn = (
  db: Db,
  { limit: most, after: [last] = [''] }: { limit: number; after?: readonly [string] | undefined },
): Promise<Placed<z.output<typeof signedIn>>[]> =>
  db
    .selectFrom('sessions as s')
    .select(({ fn }) => [
      PERSON.as('person'),
      sql<[string]>`json_build_array(${PERSON})`.as('position'),
      fn.countAll<number>().as('sessions'),
      fn.max('created_at').as('since'),
      fn.max('expires_at').as('until'),
    ])
    .where('person', 'is not', null)
    .where('person', '>', personOf(last))
    .where(GOES_ON)
    .groupBy('s.person')
    .orderBy('s.person')
    .limit(most)
    .execute();

export const endSessionsEndpoint = endpoint({
  name: 'endSessions',
  method: 'DELETE',
  path: '/api/v1/sessions/{person}',
  summary: 'Ends all sessions of a person, who may sign in again while the groups allow it.',
  input: z.object({
    person: personName.describe('As the identity provider names them: ada@example.com'),
    note,
  }),
  output: z.object({ person: z.string(), ended: z.int().describe('Sessions') }),
  answer: (caller, { person }, request) =>
    act(caller, request, async (trx) => {
      const { numDeletedRows } = await trx
        .deleteFrom('sessions')
        .where('person', '=', personOf(person))
        .executeTakeFirst();
      return { person, ended: Number(numDeletedRows) };
    }),
});
