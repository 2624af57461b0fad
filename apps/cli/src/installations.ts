import { findInstallationEndpoint } from '@paddock/api/installations/find-installation';
import { listInstallationsEndpoint } from '@paddock/api/installations/list-installations';
import { askCommand } from './ask-command.ts';
import { asYaml } from './as-yaml.ts';
import { columns } from './columns.ts';
import { type Command, PAGE } from './command.ts';
import { more } from './list-options.ts';
import { oneWord } from './one-word.ts';

export const installationsCommands: readonly Command[] = [
  askCommand({
    name: 'installations',
    takes: '',
    summary: 'Lists the installations of the Apps, by entity and App.',
    options: PAGE,
    endpoint: listInstallationsEndpoint,
    input: (given) => given.options,
    print: ({ items, next }) =>
      columns(
        ['LOGIN', 'ENTITY', 'TYPE', 'APP', 'ID', 'STATE', 'SINCE', 'REPOSITORIES'],
        items.map(({ entity, ...row }) => [
          entity.login,
          entity.id,
          entity.type,
          row.app,
          row.id,
          row.state,
          row.since,
          row.repositories,
        ]),
        'No App of Paddock was ever installed.',
      ) + more(next),
  }),
  askCommand({
    name: 'installation',
    takes: 'ID',
    summary: 'Says what an installation is, and what GitHub said of it.',
    options: {},
    endpoint: findInstallationEndpoint,
    input: (given) => ({ installation: oneWord(given, 'id') }),
    print: (answer) => asYaml(answer),
  }),
];
