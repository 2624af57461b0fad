import { listActionsEndpoint } from '@paddock/api/actions/list-actions';
import { createToken } from '@paddock/api/endpoints';
import { endSessionsEndpoint, listSessionsEndpoint } from '@paddock/api/sessions/sessions';
import { listTokensEndpoint, revokeTokenEndpoint } from '@paddock/api/tokens/tokens';
import { tellAction, textOf } from '@paddock/domain/text/tell-action';
import { ask, table } from './ask-command.ts';
import { printable } from './columns.ts';
import type { Command } from './command.ts';
import { readAccess, tokenTable } from './describe.ts';

/** What people did, with their tokens and sessions. */
export const PEOPLE: readonly Command[] = [
  ask('actions', listActionsEndpoint, {
    print: table(
      [
        'at',
        ['WHO', ({ person }) => person],
        'from',
        ['DID', ({ endpoint, subject }) => textOf(tellAction(endpoint, subject))],
        'note',
      ],
      'There is no action yet.',
    ),
  }),
  ask('token create', createToken, {
    word: ['name', 'NAME'],
    summary: `Makes a token of the API and prints it, this once. It may read, unless told otherwise.
With --endpoint and --subject it calls this endpoint for this subject, and nothing else.`,
    fields: readAccess,
    print: ({ token }) => `${token}\n`,
  }),
  ask('token list', listTokensEndpoint, { print: tokenTable }),
  ask('token revoke', revokeTokenEndpoint, {
    word: ['token', 'NAME'],
    print: (revoked) => tokenTable({ items: [revoked] }),
  }),
  ask('session list', listSessionsEndpoint, {
    print: table(
      ['person', 'sessions', 'since', 'until'],
      'No person is signed in by an identity provider.',
    ),
  }),
  ask('session end', endSessionsEndpoint, {
    word: ['person', 'PERSON'],
    print: ({ person, ended }) => `${ended} sessions of ${printable(person)} have ended.\n`,
  }),
];
