import type { Action } from '../answers.ts';
import { ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { Ago } from '../parts/time.tsx';
import type { ViewProps } from './view.ts';

/** What people did. */
export const Actions = ({ query }: ViewProps) => (
  <ListView<Action>
    title="Actions"
    path="/actions"
    query={query}
    columns={COLUMNS}
    keyOf={({ id }) => id}
    none="Nobody has done anything yet."
    tables={['actions']}
  />
);

const COLUMNS: readonly Column<Action>[] = [
  { name: 'Action', of: ({ endpoint }) => endpoint },
  {
    name: 'On',
    of: ({ subject }) =>
      Object.entries(subject)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
  },
  { name: 'Note', isWide: true, of: ({ note }) => note ?? '' },
  { name: 'Who', of: ({ person }) => person },
  { name: 'From', of: ({ from }) => (from === 'api' ? 'the console' : 'a terminal') },
  { name: 'When', isNumber: true, of: ({ at }) => <Ago at={at} /> },
];
