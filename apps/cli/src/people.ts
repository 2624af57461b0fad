import { API } from '@paddock/api/endpoints';
import { tellAction, textOf } from '@paddock/domain/text/tell-action';
import { ask, table } from './ask-command.ts';
import { printable } from './columns.ts';
import type { Command } from './command.ts';
import { readAccess, tokenTable } from './describe.ts';

export const PEOPLE: readonly Command[] = [
  ask('actions', API.listActions, {
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
  ask('token create', API.createToken, {
    word: ['name', 'NAME'],
    summary: `Makes a token of the API and prints it, this once. It may read, unless told otherwise.
With --endpoint and --subject it calls this endpoint for this subject, and nothing else.`,
    fields: readAccess,
    print: ({ token }) => `${token}\n`,
  }),
  ask('token list', API.listTokens, { print: tokenTable }),
  ask('token revoke', API.revokeToken, {
    word: ['token', 'NAME'],
    print: (revoked) => tokenTable({ items: [revoked] }),
  }),
  ask('session list', API.listSessions, {
    print: table(
      ['person', 'sessions', 'since', 'until'],
      'No person is signed in by an identity provider.',
    ),
  }),
  ask('session end', API.endSessions, {
    word: ['person', 'PERSON'],
    print: ({ person, ended }) => `${ended} sessions of ${printable(person)} have ended.\n`,
  }),
];
