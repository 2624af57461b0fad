import type { JobRow, Waits as WaitsAnswer } from '../answers.ts';
import { Chip } from '../parts/chip.tsx';
import { Link } from '../parts/link.tsx';
import { ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { Ago, Took } from '../parts/time.tsx';
import { TroubleNote } from '../parts/answer.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { plain, poolName, number } from '../text/words.ts';
import { Diagnoses } from './diagnoses.tsx';
import { filtersFor, isWaiting, queuedOf, ranOf, stateOf, reasonPath, waitsPath } from './jobs.ts';
import { Resync } from './resync.tsx';
import type { ViewProps } from './view.ts';

const FILTERS = [
  { name: 'state', label: 'State', of: ['waiting', 'running', 'ended'] },
  { name: 'reason', label: 'Waits for', hint: 'at_pool_cap, none' },
  { name: 'entity', label: 'Entity', hint: 'login or id' },
  { name: 'repository', label: 'Repository', hint: 'owner/name' },
  { name: 'pool', label: 'Pool' },
  { name: 'workflow', label: 'Workflow' },
  {
    name: 'conclusion',
    label: 'Conclusion',
    of: ['success', 'failure', 'cancelled', 'skipped', 'timed_out'],
  },
  { name: 'from', label: 'From', hint: '2026-01-31, -7d' },
  { name: 'to', label: 'To', hint: '2026-01-31, -24h' },
] as const;

/** Jobs, the newest first. */
export function Jobs({ query }: ViewProps) {
  const offered = filtersFor(query);
  const repository = query.get('repository');
  return (
    <ListView<JobRow>
      title="Jobs"
      path="/jobs"
      query={query}
      // A filter that is in the address stays to be seen, so that it can be taken out.
      filters={FILTERS.filter(
        ({ name }) => name === 'state' || offered.includes(name) || query.has(name),
      )}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      none="No job fits. Jobs that no pool serves have no row: look for such a one by its id."
      tables={['jobs']}
      head={() => (
        <>
          {repository?.includes('/') && <Diagnoses of={repository} />}
          {isWaiting(query) && <Waits query={query} />}
        </>
      )}
    >
      {repository?.includes('/') && <Resync fullName={repository} />}
    </ListView>
  );
}

export const JobState = ({ job }: { job: JobRow }) => {
  const { word, tone } = stateOf(job);
  return <Chip tone={tone}>{word}</Chip>;
};

const COLUMNS: readonly Column<JobRow>[] = [
  {
    name: 'Job',
    isWide: true,
    of: ({ id, name, workflow }) => (
      <>
        <Link to={`/jobs/${id}`}>{name}</Link>
        {workflow !== null && <span class="quiet"> {workflow}</span>}
      </>
    ),
  },
  { name: 'State', of: (job) => <JobState job={job} /> },
  {
    name: 'Waits for',
    of: ({ state, wait, worker, failure }) =>
      state === 'waiting' ? (
        wait === null ? (
          <span class="quiet">its worker</span>
        ) : (
          plain(wait.reason)
        )
      ) : (
        (failure ??
        (worker === null ? '' : <Link to={`/workers/${encodeURIComponent(worker)}`}>worker</Link>))
      ),
  },
  {
    name: 'Repository',
    of: ({ repository }) => (
      <Link to={`/jobs?repository=${encodeURIComponent(repository.fullName)}`}>
        {repository.fullName}
      </Link>
    ),
  },
  { name: 'Pool', of: ({ pool }) => poolName(pool) },
  { name: 'Queued', isNumber: true, of: (job) => <Took {...queuedOf(job)} /> },
  {
    name: 'Ran',
    isNumber: true,
    of: (job) => {
      const ran = ranOf(job);
      return ran === undefined ? <span class="quiet">–</span> : <Took {...ran} />;
    },
  },
  { name: 'Heard of', isNumber: true, of: ({ createdAt }) => <Ago at={createdAt} /> },
];

/** How many jobs wait for which reason; each leads to the list of these alone. */
function Waits({ query }: { query: URLSearchParams }) {
  const { answer, trouble } = useAnswer<WaitsAnswer>(waitsPath(query), ['jobs', 'demand_keys']);
  const chosen = query.get('reason');
  const items = answer?.items ?? [];
  return (
    <>
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      {items.length > 0 && (
        <ul class="reasons" aria-label="Jobs that wait, by reason">
          {items.map(({ reason, jobs }) => {
            // As the filter names them.
            const of = reason ?? 'none';
            return (
              <li key={of}>
                <Link
                  to={reasonPath(query, of === chosen ? undefined : of)}
                  {...(of === chosen && { 'aria-current': 'page', title: 'All reasons' })}
                >
                  <b>{number(jobs)}</b>{' '}
                  {reason === null ? 'their workers are coming' : plain(reason)}
                </Link>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}
