import { endSessionsEndpoint } from '@paddock/api/sessions/end-sessions';
import { listSessionsEndpoint } from '@paddock/api/sessions/list-sessions';
import { askCommand } from './ask-command.ts';
import { columns, printable } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { more } from './list-options.ts';
import { oneWord } from './one-word.ts';

export const sessionCommands: readonly Command[] = [
  askCommand({
    name: 'session list',
    takes: '',
    summary: 'Lists who has signed in to the page by the identity provider.',
    options: PAGE,
    endpoint: listSessionsEndpoint,
    input: ({ options: { limit, after } }) => ({ limit, after }),
    print: ({ items, next }) =>
      columns(
        ['PERSON', 'SESSIONS', 'SINCE', 'UNTIL'],
        items.map(({ person, sessions, since, until }) => [person, sessions, since, until]),
        'No person is signed in by an identity provider.',
      ) + more(next),
  }),
  askCommand({
    name: 'session end',
    takes: 'PERSON',
    summary: `Ends all sessions of a person, as ada@example.com. The person may sign in again while
the groups allow it.`,
    endpoint: endSessionsEndpoint,
    input: (given) => ({ person: oneWord(given, 'person') }),
    print: ({ person, ended }) => `${ended} sessions of ${printable(person)} have ended.\n`,
  }),
];
