import { duration } from '@paddock/domain/text/duration';
import type { Usage as UsageAnswer, UsageRow } from '../answers.ts';
import { Answer } from '../parts/answer.tsx';
import { Filters } from '../parts/filters.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { Pager } from '../parts/pager.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Ago, At } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { amount, number } from '../text/words.ts';
import { percent, subjectOf } from './usage.ts';
import type { ViewProps } from './view.ts';

const FILTERS = [
  {
    name: 'by',
    label: 'By',
    of: ['repository', 'workflow', 'pool', 'entity'],
    usual: 'repository',
  },
  { name: 'entity', label: 'Entity', hint: 'login or id' },
  { name: 'repository', label: 'Repository', hint: 'owner/name' },
  { name: 'pool', label: 'Pool' },
  { name: 'from', label: 'From', hint: '2026-01-31, -7d' },
  { name: 'to', label: 'To', hint: '2026-01-31, -24h' },
] as const;

/** What jobs and workers used. Its sums are made once an hour, so it asks only once. */
export function Usage({ query }: ViewProps) {
  const shown = useAnswer<UsageAnswer>(`/usage?${query.toString()}`, []);
  return (
    <>
      <Heading title="Usage" />
      <Filters path="/usage" query={query} filters={FILTERS} />
      <Answer of={shown}>
        {({ items, next, ...head }) => (
          <>
            <Head {...head} />
            <Table
              caption="Usage"
              columns={COLUMNS}
              rows={items}
              keyOf={(row) => JSON.stringify([row.entity, row.repository, row.workflow, row.pool])}
              none="Nothing was used then, or the sums are not made yet."
            />
            <Pager path="/usage" query={query} next={next} />
          </>
        )}
      </Answer>
    </>
  );
}

const Head = ({ total, from, to, summedAt }: Omit<UsageAnswer, 'items' | 'next'>) => (
  <>
    <ul class="headline">
      <li>
        <b>{number(total.jobs)}</b> jobs
      </li>
      <li>
        <b>{amount(total.runnerMinutes)}</b> runner minutes
      </li>
      <li>
        <b>{percent(total.idleShare)}</b> of them idle
      </li>
      <li>
        <b>{percent(total.thrownAwayShare)}</b> thrown away
      </li>
    </ul>
    <p class="key">
      <span>
        From <At at={from} /> to <At at={to} />,{' '}
        {summedAt === null ? (
          'not summed up yet'
        ) : (
          <>
            summed up <Ago at={summedAt} />
          </>
        )}
      </span>
    </p>
  </>
);

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
  {
    name: 'Runner minutes',
    isNumber: true,
    of: ({ runnerMinutes }) => amount(runnerMinutes),
  },
  { name: 'Idle', isNumber: true, of: ({ idleShare }) => percent(idleShare) },
  { name: 'Thrown away', isNumber: true, of: ({ thrownAwayShare }) => percent(thrownAwayShare) },
  {
    name: 'Queued p50',
    isNumber: true,
    of: ({ queuedSeconds }) => (queuedSeconds === null ? '–' : duration(queuedSeconds.p50 * 1_000)),
  },
  {
    name: 'p95',
    isNumber: true,
    of: ({ queuedSeconds }) => (queuedSeconds === null ? '–' : duration(queuedSeconds.p95 * 1_000)),
  },
];
