import { WAIT_REASONS } from '@paddock/domain/matching/wait-reasons';
import type { AnswerOf, Item } from '../answers.ts';
import { Ago, Chip, Dash, Link, OfPool, Thing, Took } from '../parts/inline.tsx';
import { DATES, ListView } from '../parts/list.tsx';
import { column, type Column, figure, wide } from '../parts/table.tsx';
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
    hint: 'at_pool_cap',
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

export function Jobs({ query }: ViewProps) {
  const offered = new Set(['state', ...filtersFor(query)]);
  const repository = query.get('repository') ?? '';
  return (
    <ListView<Item<'listJobs'>>
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

const COLUMNS: readonly Column<Item<'listJobs'>>[] = [
  wide('Job', ({ id, name, workflow }) => (
    <>
      <Thing kind="job" id={id} as={name} />
      {workflow !== null && <span class="quiet"> {workflow}</span>}
    </>
  )),
  column('State', (job) => <Chip of={stateOf(job)} />),
  column('Waits for', ({ state, wait, worker, failure }) =>
    state !== 'waiting'
      ? (failure ?? <Thing kind="worker" id={worker} as="worker" />)
      : wait === null
        ? 'its worker'
        : plain(wait.reason),
  ),
  column('Repository', ({ repository }) => <Thing kind="repository" id={repository.fullName} />),
  column('Pool', ({ pool }) => <OfPool pool={pool} />),
  figure('Queued', (job) => <Took {...queuedOf(job)} />),
  figure('Ran', (job) => {
    const ran = ranOf(job);
    return ran === undefined ? <Dash /> : <Took {...ran} />;
  }),
  figure('Heard of', ({ createdAt }) => <Ago at={createdAt} />),
];

function Waits({ query }: { query: URLSearchParams }) {
  const { answer, trouble } = useAnswer<AnswerOf<'countActive'>>(
    `/active?by=reason&${onlyWaiting(query).toString()}`,
    ['jobs', 'demand_keys'],
  );
  const chosen = query.get('reason');
  return (
    <>
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      <ul class="reasons" aria-label="Jobs that wait, by reason">
        {answer?.items.map(({ reason, waiting }) => {
          const of = reason ?? '';
          return (
            <li key={of}>
              <Link
                to={reasonPath(query, of === chosen ? undefined : of)}
                {...(of === chosen && { 'aria-current': 'page', title: 'All reasons' })}
              >
                <b>{number(waiting)}</b> {of === 'none' ? 'their workers are coming' : plain(of)}
              </Link>
            </li>
          );
        })}
      </ul>
    </>
  );
}
