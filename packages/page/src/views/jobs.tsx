import type { JobRow, ResyncState, Waits as WaitsAnswer } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Ago, Chip, Dash, Link, Thing, Took } from '../parts/inline.tsx';
import { DATES, ListView } from '../parts/list.tsx';
import type { Column } from '../parts/table.tsx';
import { TroubleNote } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';
import { useAnswer } from '../state/use-answer.ts';
import { number, plain, poolName } from '../text/words.ts';
import {
  filtersFor,
  isWaiting,
  onlyWaiting,
  queuedOf,
  ranOf,
  reasonPath,
  stateOf,
} from './jobs.ts';
import { Diagnoses } from './trace.tsx';

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
  ...DATES,
];

/** Jobs, the newest first. */
export function Jobs({ query }: ViewProps) {
  const offered = new Set(['state', ...filtersFor(query)]);
  const repository = query.get('repository') ?? '';
  const isNamed = repository.includes('/');
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
      head={() => (
        <>
          {isNamed && <Diagnoses of={repository} />}
          {isWaiting(query) && <Waits query={query} />}
        </>
      )}
    >
      {isNamed && <Resync fullName={repository} />}
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
  { name: 'Pool', of: ({ pool }) => poolName(pool) },
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

/** Whether a repository may be compared with GitHub, when it last was, and to have it done. */
function Resync({ fullName }: { fullName: string }) {
  const [owner = '', name = ''] = fullName.split('/');
  const path = at`/repositories/${owner}/${name}/resync`;
  const { answer, again } = useAnswer<ResyncState>(path, ['switches', 'operations']);
  if (answer === undefined) return null;
  const { subject, held, finishedAt } = answer;
  const ofSwitch = { path: at`/switches/${subject}`, again };
  if (held !== null)
    return (
      <>
        <Act label="Allow resyncs …" method="DELETE" {...ofSwitch}>
          Allows resyncs of {fullName} again.
        </Act>
        <span class="quiet">
          {held.by} forbids resyncs{held.note !== null && `: ${held.note}`}
        </span>
      </>
    );
  return (
    <>
      <Act label="Resync …" method="POST" path={path}>
        Compares all unfinished runs of {fullName} at GitHub with our jobs.
      </Act>
      <Act label="Forbid resyncs …" method="PUT" {...ofSwitch}>
        Refuses resyncs of {fullName} from now on. One that runs ends within seconds.
      </Act>
      {finishedAt !== null && (
        <span class="quiet">
          resynced <Ago at={finishedAt} />
        </span>
      )}
    </>
  );
}
