import { WAIT_REASONS } from '@paddock/domain/matching/wait-reasons';
import type { JobRow, Waits as WaitsAnswer } from '../answers.ts';
import { Ago, Chip, Dash, Link, OfPool, Thing, Took } from '../parts/inline.tsx';
import { DATES, ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { TroubleNote } from '../parts/view.tsx';
import type { ViewProps } from '../paths.ts';
import { useAnswer } from '../state/use-answer.ts';
import { number, plain } from '../text/words.ts';
import {
  filtersFor,
  isWaiting,
  onlyWaiting,
  queuedOf,
  ranOf,
  reasonPath,
  stateOf,
} from './jobs.ts';

const FILTERS = [
  { name: 'state', label: 'State', of: ['waiting', 'running', 'ended'] },
  {
    name: 'reason',
    label: 'Waits for',
    hint: 'at_pool_cap, none',
    suggest: [...Object.keys(WAIT_REASONS), 'none'],
  },
  { name: 'entity', label: 'Entity', hint: 'login or id', suggest: 'entities' as const },
  { name: 'repository', label: 'Repository', hint: 'owner/name' },
  { name: 'pool', label: 'Pool', suggest: 'pools' as const },
  { name: 'workflow', label: 'Workflow' },
  {
    name: 'conclusion',
    label: 'Conclusion',
    of: ['success', 'failure', 'cancelled', 'skipped', 'timed_out'],
  },
  ...DATES,
];

/** Jobs, the newest first. */
export function Jobs({ query }: ViewProps) {
  const offered = new Set(['state', ...filtersFor(query)]);
  const repository = query.get('repository') ?? '';
  return (
    <ListView<JobRow>
      title="Jobs"
      path="/jobs"
      query={query}
      // A filter that is in the address stays to be seen, so that it can be taken out.
      filters={FILTERS.filter(({ name }) => offered.has(name) || query.has(name))}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      none="No job fits. Jobs that no pool serves have no row: look for such a one by its id."
      tables={['jobs']}
      head={() => isWaiting(query) && <Waits query={query} />}
    >
      {repository.includes('/') && <Thing kind="repository" id={repository} as="The repository" />}
    </ListView>
  );
}

const COLUMNS: readonly Column<JobRow>[] = [
  {
    name: 'Job',
    isWide: true,
    of: ({ id, name, workflow }) => (
      <>
        <Thing kind="job" id={id} as={name} />
        {workflow !== null && <span class="quiet"> {workflow}</span>}
      </>
    ),
  },
  { name: 'State', of: (job) => <Chip of={stateOf(job)} /> },
  {
    name: 'Waits for',
    of: ({ state, wait, worker, failure }) =>
      state !== 'waiting'
        ? (failure ?? <Thing kind="worker" id={worker} as="worker" />)
        : wait === null
          ? 'its worker'
          : plain(wait.reason),
  },
  {
    name: 'Repository',
    of: ({ repository }) => <Thing kind="repository" id={repository.fullName} />,
  },
  { name: 'Pool', of: ({ pool }) => <OfPool pool={pool} /> },
  { name: 'Queued', isNumber: true, of: (job) => <Took {...queuedOf(job)} /> },
  {
    name: 'Ran',
    isNumber: true,
    of: (job) => {
      const ran = ranOf(job);
      return ran === undefined ? <Dash /> : <Took {...ran} />;
    },
  },
  { name: 'Heard of', isNumber: true, of: ({ createdAt }) => <Ago at={createdAt} /> },
];

/** How many jobs wait for which reason; each leads to the list of these alone. */
function Waits({ query }: { query: URLSearchParams }) {
  const { answer, trouble } = useAnswer<WaitsAnswer>(`/waits?${onlyWaiting(query).toString()}`, [
    'jobs',
    'demand_keys',
  ]);
  const chosen = query.get('reason');
  return (
    <>
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      <ul class="reasons" aria-label="Jobs that wait, by reason">
        {answer?.items.map(({ reason, jobs }) => {
          // As the filter names them.
          const of = reason ?? 'none';
          return (
            <li key={of}>
              <Link
                to={reasonPath(query, of === chosen ? undefined : of)}
                {...(of === chosen && { 'aria-current': 'page', title: 'All reasons' })}
              >
                <b>{number(jobs)}</b> {reason === null ? 'their workers are coming' : plain(reason)}
              </Link>
            </li>
          );
        })}
      </ul>
    </>
  );
}
