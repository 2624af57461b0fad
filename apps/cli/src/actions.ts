import { listActionsEndpoint } from '@paddock/api/actions/list-actions';
import { askCommand } from './ask-command.ts';
import { columns } from './columns.ts';
import { PAGE } from './command.ts';
import { more } from './list-options.ts';
import { pairs } from './pairs.ts';

export const actions = askCommand({
  name: 'actions',
  takes: '',
  summary: 'Lists what people did, the newest first.',
  options: PAGE,
  endpoint: listActionsEndpoint,
  input: ({ options }) => options,
  print: ({ items, next }) =>
    columns(
      ['AT', 'WHO', 'FROM', 'ACTION', 'ON', 'NOTE'],
      items.map(({ at, person, from, endpoint, subject, note }) => [
        at,
        person,
        from,
        endpoint,
        pairs(subject),
        note,
      ]),
      'There is no action yet.',
    ) + more(next),
});
