import type { WorkerRow } from '../answers.ts';
import { Chip } from '../parts/chip.tsx';
import { Link } from '../parts/link.tsx';
import { ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { Ago, Took } from '../parts/time.tsx';
import type { ViewProps } from './view.ts';
import { remarkOf, stateOf } from './workers.ts';

const FILTERS = [
  { name: 'state', label: 'State', of: ['pending', 'running', 'stopping', 'ended', 'failed'] },
  { name: 'entity', label: 'Entity', hint: 'login or id' },
  { name: 'pool', label: 'Pool' },
  { name: 'from', label: 'From', hint: '2026-01-31, -7d' },
  { name: 'to', label: 'To', hint: '2026-01-31, -24h' },
] as const;

/** Workers, the newest first. */
export const Workers = ({ query }: ViewProps) => (
  <ListView<WorkerRow>
    title="Workers"
    path="/workers"
    query={query}
    filters={FILTERS}
    columns={COLUMNS}
    keyOf={({ name }) => name}
    none="No worker fits."
    tables={['workers']}
  />
);

export const WorkerState = ({ worker }: { worker: WorkerRow }) => {
  const { word, tone } = stateOf(worker);
  return <Chip tone={tone}>{word}</Chip>;
};

const COLUMNS: readonly Column<WorkerRow>[] = [
  {
    name: 'Worker',
    of: ({ name, warm }) => (
      <>
        <Link to={`/workers/${encodeURIComponent(name)}`}>{name}</Link>
        {warm && <span class="quiet"> warm</span>}
      </>
    ),
  },
  { name: 'State', of: (worker) => <WorkerState worker={worker} /> },
  { name: 'Remark', isWide: true, of: (worker) => remarkOf(worker) },
  { name: 'Job', of: ({ job }) => (job === null ? '' : <Link to={`/jobs/${job}`}>{job}</Link>) },
  { name: 'Pool', of: ({ pool }) => pool },
  { name: 'Entity', of: ({ entity, repository }) => repository ?? entity.login },
  { name: 'Node', of: ({ node }) => node ?? '' },
  {
    name: 'Lived',
    isNumber: true,
    of: ({ createdAt, completedAt }) => <Took from={createdAt} to={completedAt} />,
  },
  { name: 'Made', isNumber: true, of: ({ createdAt }) => <Ago at={createdAt} /> },
];
