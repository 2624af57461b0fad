import type { Installation } from '../answers.ts';
import { Chip } from '../parts/chip.tsx';
import { Link } from '../parts/link.tsx';
import { ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { Ago } from '../parts/time.tsx';
import type { ViewProps } from './view.ts';

const TONES = { installed: 'good', suspended: 'wait', deleted: 'over' } as const;

/** Where the Apps are installed. */
export const Installations = ({ query }: ViewProps) => (
  <ListView<Installation>
    title="Installations"
    path="/installations"
    query={query}
    columns={COLUMNS}
    keyOf={({ entity, app }) => `${entity.id} ${app}`}
    none="The App is installed nowhere that Paddock has heard of."
    tables={['installations']}
  />
);

const COLUMNS: readonly Column<Installation>[] = [
  {
    name: 'Entity',
    isWide: true,
    of: ({ entity }) => (
      <>
        <Link to={`/trace/entity/${entity.id}`}>{entity.login}</Link>{' '}
        <span class="quiet">{entity.type === 'User' ? 'user' : 'organisation'}</span>
      </>
    ),
  },
  { name: 'State', of: ({ state }) => <Chip tone={TONES[state]}>{state}</Chip> },
  { name: 'Since', of: ({ since }) => (since === null ? '' : <Ago at={since} />) },
  { name: 'Repositories', of: ({ repositories }) => repositories ?? 'unknown' },
  { name: 'App', isNumber: true, of: ({ app }) => app },
  {
    name: 'Installation',
    isNumber: true,
    of: ({ id }) => <Link to={`/installations/${id}`}>{id}</Link>,
  },
  { name: 'Entity id', isNumber: true, of: ({ entity }) => entity.id },
];
