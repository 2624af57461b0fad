import { createToken } from '@paddock/api/endpoints';
import { listTokensEndpoint } from '@paddock/api/tokens/list-tokens';
import { revokeTokenEndpoint } from '@paddock/api/tokens/revoke-token';
import type { token } from '@paddock/api/tokens/token';
import type { z } from 'zod';
import { askCommand } from './ask-command.ts';
import { columns } from './columns.ts';
import { type Command, PAGE, WrongUsage } from './command.ts';
import { more } from './list-options.ts';
import { oneWord } from './one-word.ts';
import { pairs } from './pairs.ts';

type Token = z.input<typeof token>;

const table = (tokens: readonly Token[]): string =>
  columns(
    ['NAME', 'ACCESS', 'ONLY', 'CREATED', 'BY', 'LAST USED', 'REVOKED', 'BY'],
    tokens.map(({ name, access, narrowedTo, ...row }) => [
      name,
      access,
      narrowedTo && `${narrowedTo.endpoint} ${pairs(narrowedTo.subject)}`,
      row.createdAt,
      row.createdBy,
      row.lastUsedAt,
      row.revokedAt,
      row.revokedBy,
    ]),
    'There is no token.',
  );

/** From `owner=acme,repository=app`. */
const readSubject = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').map((pair) => {
      const [, field, value] = /^(\w+)=(.+)$/.exec(pair) ?? [];
      if (field === undefined || value === undefined)
        throw new WrongUsage('--subject takes FIELD=VALUE, with a comma between each two.');
      return [field, value];
    }),
  );

export const tokenCommands: readonly Command[] = [
  askCommand({
    name: 'token create',
    takes: 'NAME',
    summary: `Makes a token of the API and prints it, this once. It may read, unless told otherwise.
With --endpoint and --subject it calls this endpoint for this subject, and nothing else.`,
    options: {
      access: { type: 'string', value: 'read|operate', doc: 'what it may do; read unless said' },
      'one-time': { type: 'boolean', doc: 'it signs in to the page once, within an hour' },
      endpoint: { type: 'string', value: 'NAME', doc: 'an operationId of /api/v1/openapi.json' },
      subject: {
        type: 'string',
        value: 'FIELD=VALUE',
        doc: 'each field of the endpoint’s path, as owner=acme,repository=app',
      },
    },
    endpoint: createToken,
    input: (given) => {
      const { access = 'read', endpoint, subject, 'one-time': oneTime } = given.options;
      return {
        name: oneWord(given, 'name'),
        access,
        endpoint,
        oneTime,
        ...(typeof subject === 'string' && { subject: readSubject(subject) }),
      };
    },
    print: ({ token: text }) => `${text}\n`,
  }),
  askCommand({
    name: 'token list',
    takes: '',
    summary: 'Lists the tokens of the API by name, revoked ones included.',
    options: PAGE,
    endpoint: listTokensEndpoint,
    input: ({ options: { limit, after } }) => ({ limit, after }),
    print: ({ items, next }) => table(items) + more(next),
  }),
  askCommand({
    name: 'token revoke',
    takes: 'NAME',
    summary: 'Revokes a token for good: requests with it are refused from now on.',
    endpoint: revokeTokenEndpoint,
    input: (given) => ({ name: oneWord(given, 'name') }),
    print: (revoked) => table([revoked]),
  }),
];
