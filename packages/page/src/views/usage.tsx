import { useMemo } from 'preact/hooks';
import type { AnswerOf, Item } from '../answers.ts';
import { Chart } from '../parts/chart.tsx';
import { secondsInWords, toLines } from '../parts/history.tsx';
import { Ago, At, HowMany, Link, Listed, Thing } from '../parts/inline.tsx';
import { DATES, ListView, Tabs } from '../parts/list.tsx';
import { type Column, figure, Headline, Table, wide } from '../parts/table.tsx';
import { Answer, Heading } from '../parts/view.tsx';
import type { ViewProps } from '../paths.ts';
import { hrefOf } from '../state/place.ts';
import { zoneName } from '../state/zone.ts';
import { useAnswer } from '../state/use-answer.ts';
import { amount, number, percent } from '../text/words.ts';
import { subjectOf } from './usage.ts';

const FILTERS = [
  { name: 'by', label: 'By', of: ['repository', 'workflow', 'pool', 'entity'], isRequired: true },
  { name: 'entity', label: 'Entity', hint: 'login or id', suggest: 'entities' },
  { name: 'repository', label: 'Repository', hint: 'owner/name' },
  { name: 'pool', label: 'Pool', suggest: 'pools' },
  ...DATES,
] as const;

/** What jobs and workers used. Its sums are made once an hour, so it asks only once. */
export function Usage({ query }: ViewProps) {
  const isByTime = ['hour', 'day'].includes(query.get('by') ?? '');
  const csv = new URLSearchParams(query);
  csv.set('limit', '200');
  const dates = [...query].filter(([name]) => ['from', 'to'].includes(name));
  return (
    <ListView<Item<'listUsage'>, AnswerOf<'listUsage'>>
      title="Usage"
      path="/usage"
      query={query}
      filters={FILTERS}
      head={(answer) => <Head {...answer} query={query} />}
      columns={columnsOf({ state: 'ended', from: '-7d', ...Object.fromEntries(dates) })}
      // Hours and days come in their own order.
      {...(!isByTime && { sorted: query.get('sort') ?? 'minutes' })}
      keyOf={(row) => JSON.stringify([row.entity, row.repository, row.workflow, row.pool, row.at])}
      none="Nothing was used then, or the sums are not made yet."
      tables={[]}
    >
      <a href={hrefOf(`/usage.csv?${csv.toString()}`)} download="usage.csv">
        As CSV
      </a>
    </ListView>
  );
}

const Head = ({
  total,
  from,
  to,
  summedAt,
  query,
}: AnswerOf<'listUsage'> & { query: URLSearchParams }) => (
  <>
    <Headline
      of={[
        [number(total.jobs), 'jobs'],
        [amount(total.runnerMinutes), 'runner minutes'],
        ...(total.before === null
          ? []
          : ([[amount(total.before.runnerMinutes), 'in the week before']] as const)),
        [percent(total.idleShare), 'of them idle'],
        [percent(total.thrownAwayShare), 'thrown away'],
      ]}
    />
    <Days query={query} />
    <p class="key">
      <span>
        From <At at={from} /> to <At at={to} /> {zoneName()}, summed up{' '}
        {summedAt === null ? 'not yet' : <Ago at={summedAt} />}
      </span>
    </p>
  </>
);

function Days({ query }: { query: URLSearchParams }) {
  const asked = new URLSearchParams(query);
  for (const name of ['after', 'sort']) asked.delete(name);
  asked.set('by', 'day');
  asked.set('limit', '200');
  const { answer } = useAnswer<AnswerOf<'listUsage'>>(`/usage?${asked.toString()}`, []);
  const drawn = useMemo(() => answer && toMinutes(answer), [answer]);
  return drawn === undefined ? null : (
    <Chart label="Runner minutes by day" said={amount} {...drawn} />
  );
}

const DAY_S = 86_400;

function toMinutes(answer: AnswerOf<'listUsage'>) {
  const { instants, workers } = toLines(answer, DAY_S);
  const [all] = workers;
  const values = all?.values.map((atATime) => atATime * 24 * 60) ?? [];
  return { instants, lines: [{ name: 'minutes', values, colour: '--bar-busy', isBar: true }] };
}

const queued = (seconds: number | undefined) =>
  seconds === undefined ? '–' : secondsInWords(seconds);

const jobsOf = (filters: Readonly<Record<string, string>>): string =>
  `/jobs?${new URLSearchParams(filters).toString()}`;

const columnsOf = (
  ended: Readonly<Record<string, string>>,
): readonly Column<Item<'listUsage'>>[] => [
  wide('Of', (row) => {
    if (row.at !== null) return <At at={row.at} />;
    const { name, filters } = subjectOf(row);
    if (name === null) return <span class="quiet">workers without a job</span>;
    return <Link to={jobsOf(filters)}>{name}</Link>;
  }),
  figure(
    'Jobs',
    (row) => <Listed many={row.jobs} to={jobsOf({ ...subjectOf(row).filters, ...ended })} />,
    'jobs',
  ),
  figure('Workers', ({ workers }) => number(workers), 'workers'),
  figure('Runner minutes', ({ runnerMinutes }) => amount(runnerMinutes), 'minutes'),
  figure('Week before', ({ before }) => (before === null ? '–' : amount(before.runnerMinutes))),
  figure('Idle', ({ idleShare }) => percent(idleShare), 'idle'),
  figure('Thrown away', ({ thrownAwayShare }) => percent(thrownAwayShare), 'thrownAway'),
  figure('Queued p50', ({ queuedSeconds }) => queued(queuedSeconds?.p50)),
  figure('p95', ({ queuedSeconds }) => queued(queuedSeconds?.p95)),
];

const BY = ['entity', 'pool', 'labels'] as const;

export function Active({ query }: ViewProps) {
  const by = BY.find((one) => one === query.get('by')) ?? 'entity';
  const shown = useAnswer<AnswerOf<'countActive'>>(`/active?by=${by}`, ['jobs', 'workers']);
  return (
    <>
      <Heading title="Active now">
        <Tabs
          name="By"
          of={Object.fromEntries(BY.map((one) => [`/active?by=${one}`, `by ${one}`]))}
          here={`/active?by=${by}`}
        />
      </Heading>
      <Answer of={shown}>
        {({ items }) => (
          <Table
            caption={`Jobs and workers that live, by ${by}`}
            columns={ACTIVE}
            rows={items}
            keyOf={(row) => row.entity?.id ?? row.pool ?? JSON.stringify(row.labels)}
            none="No job waits or runs, and no worker lives."
          />
        )}
      </Answer>
    </>
  );
}

const COUNTS = [
  ['waiting', 'jobs', 'waiting'],
  ['running', 'jobs', 'running'],
  ['starting', 'workers', 'pending'],
  ['idle', 'workers', 'running'],
  ['busy', 'workers', 'running'],
  ['stopping', 'workers', 'stopping'],
] as const;

const ACTIVE: readonly Column<Item<'countActive'>>[] = [
  wide('Of', ({ entity, labels, pool }) => (
    <>
      {entity && <Thing kind="entity" id={entity.id} as={entity.login} />}
      <Thing kind="pool" id={pool} />
      {labels?.join(', ')}
    </>
  )),
  ...COUNTS.map(([what, list, state]) =>
    // Of labels there is no list.
    figure(
      what[0]?.toUpperCase() + what.slice(1),
      ({ entity, pool, [what]: many }: Item<'countActive'>) =>
        entity === null && pool === null ? (
          number(many)
        ) : (
          <HowMany
            of={list}
            state={state}
            many={many}
            {...(pool === null ? { entity: entity?.id } : { pool })}
          />
        ),
    ),
  ),
];
