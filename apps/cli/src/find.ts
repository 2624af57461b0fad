import { findEndpoint } from '@paddock/api/find/find';
import type { Named } from '@paddock/api/find/find';
import { askCommand } from './ask-command.ts';
import { columns } from './columns.ts';
import { oneWord } from './one-word.ts';

export const find = askCommand({
  name: 'find',
  takes: 'TEXT',
  summary: `Says what has an id, a name or an address at GitHub, the likeliest first, and
which command shows it.`,
  endpoint: findEndpoint,
  input: (given) => ({ text: oneWord(given, 'id, name or address') }),
  print: ({ items }) =>
    columns(
      ['KIND', 'ID', 'NAME', 'COMMAND'],
      items.map((found) => [found.kind, found.id, found.name, `paddock ${commandFor(found)}`]),
      'The rows have nothing of that id, name or address.',
    ),
});

function commandFor({ kind, id, name }: Named): string {
  switch (kind) {
    case 'job':
      return `why ${id}`;
    case 'run':
      return 'why ADDRESS';
    case 'repository':
    case 'entity':
      return `diagnose ${name ?? id}`;
    case 'pool':
      return 'pools';
    case 'event':
      return `trace payload ${id}`;
    case 'worker':
    case 'operation':
    case 'delivery':
    case 'installation':
      return `${kind} ${id}`;
    default:
      return kind satisfies never;
  }
}
