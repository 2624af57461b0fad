import { sql } from 'kysely';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { token, TOKEN_COLUMNS, tokenName } from './token.ts';

export const revokeTokenEndpoint = endpoint({
  name: 'revokeToken',
  method: 'DELETE',
  path: '/api/v1/tokens/{name}',
  summary: 'Revokes a token for good; requests with it are refused from now on.',
  access: 'operate',
  status: 200,
  input: z.object({ name: tokenName, note }),
  output: token,
  answer: (caller, { name, note: why }) =>
    act(caller, { endpoint: 'revokeToken', subject: { token: name }, note: why }, async (trx) => {
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
