import { listTokens } from '@paddock/db/people/tokens';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import { token, tokenName, toTokenJson } from './token.ts';

export const listTokensEndpoint = endpoint({
  name: 'listTokens',
  method: 'GET',
  path: '/api/v1/tokens',
  summary: 'Lists the tokens by name, revoked ones included.',
  access: 'operate',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([tokenName])) }),
  output: pageOf(token),
  answer: async ({ db }, input) =>
    toPage(
      await listTokens(db, { limit: rowsToRead(input.limit), after: input.after?.[0] }),
      input.limit,
      ({ name }) => [name],
      toTokenJson,
    ),
});
