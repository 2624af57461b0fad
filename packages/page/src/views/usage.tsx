import { duration } from '@paddock/domain/text/duration';
import type { Usage as UsageAnswer, UsageRow } from '../answers.ts';
import { Ago, At, Link } from '../parts/inline.tsx';
import { DATES, ListView } from '../parts/list.tsx';
import { type Column, Headline } from '../parts/table.tsx';
import type { ViewProps } from '../paths.ts';
import { amount, number, percent } from '../text/words.ts';
import { subjectOf } from './usage.ts';

const FILTERS = [
  { name: 'by', label: 'By', of: ['repository', 'workflow', 'pool', 'entity'], isRequired: true },
  { name: 'entity', label: 'Entity', hint: 'login or id' },
  { name: 'repository', label: 'Repository', hint: 'owner/name' },
  { name: 'pool', label: 'Pool' },
  ...DATES,
];

/** What jobs and workers used. Its sums are made once an hour, so it asks only once. */
export const Usage = ({ query }: ViewProps) => (
  <ListView<UsageRow, UsageAnswer>
    title="Usage"
    path="/usage"
    query={query}
    filters={FILTERS}
    head={(answer) => <Head {...answer} />}
    columns={COLUMNS}
    keyOf={(row) => JSON.stringify([row.entity, row.repository, row.workflow, row.pool])}
    none="Nothing was used then, or the sums are not made yet."
    tables={[]}
  />
);

const Head = ({ total, from, to, summedAt }: UsageAnswer) => (
  <>
    <Headline
      of={[
        [number(total.jobs), 'jobs'],
        [amount(total.runnerMinutes), 'runner minutes'],
        [percent(total.idleShare), 'of them idle'],
        [percent(total.thrownAwayShare), 'thrown away'],
      ]}
    />
    <p class="key">
      <span>
        From <At at={from} /> to <At at={to} />, summed up{' '}
        {summedAt === null ? 'not yet' : <Ago at={summedAt} />}
      </span>
    </p>
  </>
);

const queued = (seconds: number | undefined) =>
  seconds === undefined ? '–' : duration(seconds * 1_000);

const COLUMNS: readonly Column<UsageRow>[] = [
  {
    name: 'Of',
    isWide: true,
    of: (row) => {
      const { name, filters } = subjectOf(row);
      if (name === null) return <span class="quiet">workers without a job</span>;
      return <Link to={`/jobs?${new URLSearchParams(filters).toString()}`}>{name}</Link>;
    },
  },
  { name: 'Jobs', isNumber: true, of: ({ jobs }) => number(jobs) },
  { name: 'Workers', isNumber: true, of: ({ workers }) => number(workers) },
  { name: 'Runner minutes', isNumber: true, of: ({ runnerMinutes }) => amount(runnerMinutes) },
  { name: 'Idle', isNumber: true, of: ({ idleShare }) => percent(idleShare) },
  { name: 'Thrown away', isNumber: true, of: ({ thrownAwayShare }) => percent(thrownAwayShare) },
  { name: 'Queued p50', isNumber: true, of: ({ queuedSeconds }) => queued(queuedSeconds?.p50) },
  { name: 'p95', isNumber: true, of: ({ queuedSeconds }) => queued(queuedSeconds?.p95) },
];
