import type { TokenSubject } from '@paddock/db/schema/people-tables';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { type Endpoint, endpoint, fieldsOfPath } from '../endpoint.ts';
import { refused, wrong } from '../problem.ts';
import { hashSecret, newSecret, tokenText } from './token-text.ts';
import { access, token, TOKEN_COLUMNS, tokenName, type TokenRights } from './token.ts';

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
    access: 'operate',
    status: 200,
    input,
    output: token.extend({ token: z.string() }),
    async answer(caller, given) {
      const parts = { ...newSecret(), isOneTime: given.oneTime };
      const narrowedTo = narrowing(others, given);
      const request = {
        endpoint: 'createToken',
        subject: { token: given.name },
        note: given.note,
      };
      const stored = await act(caller, request, async (trx) => {
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
): TokenSubject {
  const read = z
    .strictObject(Object.fromEntries(fields.map((field) => [field, schema.shape[field]])))
    .safeParse(subject);
  if (read.success) return read.data as TokenSubject;
  throw wrong(`The \`subject\` of ${name} must have ${fields.join(' and ')}, each as in its path.`);
}
