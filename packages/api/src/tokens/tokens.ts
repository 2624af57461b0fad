import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '@paddock/db/schema/tables';
import type { Subject } from '@paddock/db/schema/columns';
import { instant } from '../lists/dates.ts';
import { endpoint, type Endpoint, fieldsOfPath } from '../endpoint.ts';
import { pageInput, pageOf, type Placed, positionBy, toPage } from '../lists/page.ts';
import { act, note } from '../actions/list-actions.ts';
import { notFound, refused, wrong } from '../problem.ts';

/** A token in its parts. `id` finds its row, `secret` proves it. */
export interface TokenParts {
  readonly id: string;
  readonly secret: string;
  /** It begins one session of the page, and proves nothing else. */
  readonly isOneTime: boolean;
}

/** The prefix lets scanners of repositories find a token that was committed. */
const TOKEN = /^paddock_(once_)?([0-9a-f]{16})_([\w-]{43})$/;

export const newSecret = (): Pick<TokenParts, 'id' | 'secret'> => ({
  id: randomBytes(8).toString('hex'),
  secret: randomBytes(32).toString('base64url'),
});

const tokenText = ({ id, secret, isOneTime }: TokenParts): string =>
  `paddock_${isOneTime ? 'once_' : ''}${id}_${secret}`;

/** Undefined: the text is no token. */
export function parseToken(text: string): TokenParts | undefined {
  const [, once, id, secret] = TOKEN.exec(text) ?? [];
  return id === undefined || secret === undefined
    ? undefined
    : { id, secret, isOneTime: once !== undefined };
}

/** In hexadecimal digits. A secret of 256 random bits needs no slow hash: it cannot be guessed. */
export const hashSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex');

/** As in audits and lists; a revoked token keeps its name. */
const tokenName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    'must have 1 to 63 small letters, digits, dots, dashes or underscores, and begin with a letter or a digit',
  );

const access = z.enum(['read', 'operate']);

/** A token as people see it. Its secret is shown once, by `createToken`. */
const token = z.object({
  name: z.string(),
  access,
  narrowedTo: z
    .object({ endpoint: z.string(), subject: z.record(z.string(), z.union([z.string(), z.int()])) })
    .nullable()
    .describe('The one endpoint and subject that it may call; null: all that its access allows'),
  oneTime: z.boolean().describe('It signs in to the page once, and does nothing else'),
  createdBy: z.string(),
  createdAt: instant,
  lastUsedAt: instant.nullable().describe('To the hour'),
  revokedBy: z.string().nullable(),
  revokedAt: instant.nullable(),
});

type Token = z.output<typeof token>;

/** SQL: the one endpoint and subject of a row of `tokens`; null: it is not narrowed. */
export const NARROWED_TO = sql<
  Token['narrowedTo']
>`case when tokens.endpoint is not null then json_build_object('endpoint', tokens.endpoint, 'subject', tokens.subject) end`.as(
  'narrowedTo',
);

export type TokenRights = Pick<Token, 'access' | 'narrowedTo'>;

/** What people see of a row: its secret is nowhere. */
const TOKEN_COLUMNS = [
  'name',
  'access',
  NARROWED_TO,
  'one_time as oneTime',
  'created_by as createdBy',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'revoked_by as revokedBy',
  'revoked_at as revokedAt',
] as const;

export const listTokensEndpoint = endpoint({
  name: 'listTokens',
  path: '/api/v1/tokens',
  summary: 'Lists the tokens by name, revoked ones included.',
  access: 'operate',
  input: z.object(pageInput(z.tuple([tokenName]))),
  output: pageOf(token),
  answer: async ({ db }, input) => toPage(await listTokens(db, input), input.limit),
});

const listTokens = (
  db: Db,
  { limit: most, after: [last] = [''] }: { limit: number; after?: readonly [string] | undefined },
): Promise<Placed<Token>[]> =>
  db
    .selectFrom('tokens')
    .select([...TOKEN_COLUMNS, positionBy('name')])
    .where('name', '>', last)
    .orderBy('name')
    .limit(most)
    .execute();

const input = z.object({
  name: tokenName,
  access: access.describe('Whether it may only read, or also act'),
  endpoint: z.string().max(100).optional().describe('The one endpoint that it may call, by name'),
  subject: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .optional()
    .describe('With `endpoint`: each value in its path'),
  oneTime: z
    .boolean()
    .default(false)
    .describe('It signs in to the page once, within an hour, and does nothing else'),
  note,
});

/** `others` are the endpoints that a token can be narrowed to: all but those of tokens. */
export const createTokenEndpoint = (others: readonly Endpoint[]) =>
  endpoint({
    name: 'createToken',
    method: 'POST',
    path: '/api/v1/tokens',
    summary: 'Makes a token, which only this answer ever shows.',
    input,
    output: token.extend({ token: z.string() }),
    async answer(caller, given, request) {
      const parts = { ...newSecret(), isOneTime: given.oneTime };
      const narrowedTo = narrowing(others, given);
      const subject = { token: given.name };
      const stored = await act(caller, { ...request, subject }, async (trx) => {
        const made = await trx
          .insertInto('tokens')
          .values({
            id: parts.id,
            name: given.name,
            secret_sha256: hashSecret(parts.secret),
            access: given.access,
            endpoint: narrowedTo?.endpoint ?? null,
            subject: narrowedTo === null ? null : JSON.stringify(narrowedTo.subject),
            one_time: given.oneTime,
            created_by: caller.person,
          })
          .onConflict((conflict) => conflict.column('name').doNothing())
          .returning(TOKEN_COLUMNS)
          .executeTakeFirst();
        if (made !== undefined) return made;
        throw refused(`There is a token of the name ${given.name}; a revoked one keeps its name.`);
      });
      return { ...stored, token: tokenText(parts) };
    },
  });

/** Throws a Problem if the endpoint and the subject do not fit. */
function narrowing(
  others: readonly Endpoint[],
  { access: allowed, endpoint: name, subject = {}, oneTime }: z.output<typeof input>,
): TokenRights['narrowedTo'] {
  if (name === undefined) {
    if (Object.keys(subject).length > 0) throw wrong('A `subject` needs an `endpoint`.');
    return null;
  }
  if (oneTime) throw wrong('A token for one sign-in cannot be narrowed: the page would be empty.');
  const found = others.find((one) => one.name === name);
  if (found === undefined) throw wrong(`No token can be narrowed to an endpoint ${name}.`);
  const fields = fieldsOfPath(found.path);
  if (fields.length === 0)
    throw wrong(`The path of ${name} names no subject, so no token can be narrowed to it.`);
  if (found.access === 'operate' && allowed === 'read')
    throw wrong(`A token for ${name} needs the access \`operate\`.`);
  return { endpoint: name, subject: readSubject(found, fields, subject) };
}

/** The values as the endpoint itself reads them: requests are compared with these. */
function readSubject(
  { name, input: schema }: Endpoint,
  fields: readonly string[],
  subject: object,
): Subject {
  const read = z
    .strictObject(Object.fromEntries(fields.map((field) => [field, schema.shape[field]])))
    .safeParse(subject);
  if (read.success) return read.data as Subject;
  throw wrong(`The \`subject\` of ${name} must have ${fields.join(' and ')}, each as in its path.`);
}

export const revokeTokenEndpoint = endpoint({
  name: 'revokeToken',
  method: 'DELETE',
  path: '/api/v1/tokens/{token}',
  summary: 'Revokes a token for good; requests with it are refused from now on.',
  input: z.object({ token: tokenName, note }),
  output: token,
  answer: (caller, { token: name }, request) =>
    act(caller, request, async (trx) => {
      // Repeating it changes nothing.
      const revoked = await trx
        .updateTable('tokens')
        .set({
          revoked_at: sql`coalesce(revoked_at, now())`,
          revoked_by: sql`coalesce(revoked_by, ${caller.person})`,
        })
        .where('name', '=', name)
        .returning(TOKEN_COLUMNS)
        .executeTakeFirst();
      if (revoked === undefined) throw notFound(`There is no token of the name ${name}.`);
      return revoked;
    }),
});
