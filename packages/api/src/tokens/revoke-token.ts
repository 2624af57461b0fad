import { revokeToken } from '@paddock/db/people/tokens';
import { z } from 'zod';
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
  input: z.object({ name: tokenName }),
  output: token,
  async answer({ db, person }, { name }) {
    const revoked = await revokeToken(db, name, person);
    if (revoked === undefined) throw notFound(`There is no token of the name ${name}.`);
    return toTokenJson(revoked);
  },
});
