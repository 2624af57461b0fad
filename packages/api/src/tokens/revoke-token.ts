import { revokeToken } from '@paddock/db/people/tokens';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { token, tokenName, toTokenJson } from './token.ts';

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
      const revoked = await revokeToken(trx, name, caller.person);
      if (revoked === undefined) throw notFound(`There is no token of the name ${name}.`);
      return toTokenJson(revoked);
    }),
});
