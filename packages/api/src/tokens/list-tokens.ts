import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPageBy } from '../lists/page.ts';
import { type Token, token, TOKEN_COLUMNS, tokenName } from './token.ts';

export const listTokensEndpoint = endpoint({
  name: 'listTokens',
  method: 'GET',
  path: '/api/v1/tokens',
  summary: 'Lists the tokens by name, revoked ones included.',
  access: 'operate',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([tokenName])) }),
  output: pageOf(token),
  async answer({ db }, input) {
    const page = { limit: rowsToRead(input.limit), after: input.after?.[0] };
    return toPageBy(await listTokens(db, page), input.limit, ({ name }) => [name]);
  },
});

/** Tokens in the order of their names, from the first one after `after`. */
export const listTokens = (
  db: Kysely<Database>,
  { limit: most, after: last }: { limit: number; after?: string | undefined },
): Promise<Token[]> =>
  db
    .selectFrom('tokens')
    .select(TOKEN_COLUMNS)
    .$if(last !== undefined, (query) => query.where('name', '>', last ?? ''))
    .orderBy('name')
    .limit(most)
    .execute();
