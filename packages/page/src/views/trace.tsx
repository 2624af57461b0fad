import type { Trace as TraceAnswer, TraceItem } from '../answers.ts';
import { Link } from '../parts/link.tsx';
import { ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { Ago, At } from '../parts/time.tsx';
import { Diagnoses } from './diagnoses.tsx';
import { keyOf, repositoryOf, subjectsOf } from './trace.ts';
import type { ViewProps } from './view.ts';

const FILTERS = [
  { name: 'kind', label: 'Kind', of: ['event', 'job', 'worker', 'operation', 'action'] },
  { name: 'from', label: 'From', hint: '2026-01-31, -7d' },
  { name: 'to', label: 'To', hint: '2026-01-31, -24h' },
] as const;

/** What happened to an entity, the newest first: found by itself, an installation or a job. */
export function Trace({ fields: { entity, installation, job }, query }: ViewProps) {
  const [by, id] =
    job !== undefined
      ? (['job', job] as const)
      : installation !== undefined
        ? (['installation', installation] as const)
        : (['entity', entity ?? ''] as const);
  return (
    <ListView<TraceItem, TraceAnswer>
      title={by === 'entity' ? `What happened to ${id}` : `What happened to ${by} ${id}`}
      titleOf={({ entity: whose }) =>
        by === 'entity' && whose?.login ? `What happened to ${whose.login}` : undefined
      }
      path={`/trace/${by}/${encodeURIComponent(id)}`}
      query={query}
      filters={FILTERS}
      head={(answer) => <Head {...answer} />}
      columns={COLUMNS}
      keyOf={keyOf}
      none="Nothing of this is stored, or not from that time."
      tables={['jobs', 'workers', 'operations', 'tasks', 'installation_events', 'actions']}
    >
      {by === 'job' && <Link to={`/jobs/${encodeURIComponent(id)}`}>The job</Link>}
      {by === 'installation' && (
        <Link to={`/installations/${encodeURIComponent(id)}`}>The installation</Link>
      )}
    </ListView>
  );
}

const Head = ({ entity }: TraceAnswer) =>
  entity === null ? null : (
    <>
      <Diagnoses of={String(entity.id)} />
      <p class="key">
        <span>
          Entity {entity.login !== null && <b>{entity.login}</b>} {entity.id}
          {entity.formerly.length > 0 && `, formerly ${entity.formerly.join(', ')}`}
        </span>
        {entity.login !== null && (
          <Link to={`/jobs?entity=${encodeURIComponent(entity.login)}`}>its jobs</Link>
        )}
        <Link to={`/workers?entity=${entity.id}`}>its workers</Link>
      </p>
    </>
  );

const COLUMNS: readonly Column<TraceItem>[] = [
  { name: 'At', of: ({ at }) => <At at={at} /> },
  { name: 'Kind', of: ({ kind }) => <span class="quiet">{kind}</span> },
  { name: 'What', isWide: true, of: ({ what }) => what },
  {
    name: 'Of',
    isWide: true,
    of: (item) =>
      subjectsOf(item).map(({ name, to }, index) => (
        <span key={to}>
          {index > 0 && ', '}
          <Link to={to}>{name}</Link>
        </span>
      )),
  },
  { name: 'Repository', of: repositoryOf },
  { name: 'Ago', isNumber: true, of: ({ at }) => <Ago at={at} /> },
];
