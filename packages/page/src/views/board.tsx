import { duration } from '@paddock/domain/text/duration';
import { type Failure, newestFailures } from '@paddock/domain/text/newest-failures';
import type { AnswerOf, Item, List } from '../answers.ts';
import { Ago, Dash, HowMany, Link, Thing, Took } from '../parts/inline.tsx';
import { greatest, inWords, lineOf } from '../parts/last-hour.ts';
import { type Column, column, figure, Headline, Table, wide } from '../parts/table.tsx';
import { Answer, Heading, TroubleNote } from '../parts/view.tsx';
import { at } from '../paths.ts';
import { useAnswer } from '../state/use-answer.ts';
import { NO_POOL, number, poolName } from '../text/words.ts';
import { inOrder, stretchesOf, totalsOf } from './board.ts';
import { Hindrances, OF_POOLS, useHindrances } from './hindrances.tsx';

/** The instants of the last hour are a minute apart. */
export const HOUR_EVERY_MS = 60_000;

export function Board() {
  const shown = useAnswer<AnswerOf<'listPools'>>('/pools', OF_POOLS);
  const hour = useAnswer<AnswerOf<'listPools'>>('/pools?minutes=true', [], HOUR_EVERY_MS).answer;
  const hours = new Map(hour?.items.map(({ name, minutes }) => [name, minutes]));
  const held = useHindrances();
  const troubled = new Set(held.answer?.items.flatMap(({ pools = [] }) => pools));
  return (
    <>
      <Heading title="Fleet" />
      <Answer of={shown}>
        {({ items }) => (
          <>
            <Sums pools={items} />
            <Hindrances of={held} />
            <Table
              caption="Pools"
              columns={columnsWith(hours)}
              rows={inOrder(items, troubled)}
              keyOf={({ name }) => name}
              none="No pool is in force. The scheduler loads them from the configuration file."
            />
            {items.length > 0 && <Key />}
            <NewestFailures />
          </>
        )}
      </Answer>
    </>
  );
}

function Sums({ pools }: { pools: readonly Item<'listPools'>[] }) {
  const { waiting, coming, busy, oldest, started } = totalsOf(pools);
  return (
    <Headline
      of={[
        [number(waiting), 'waiting', '/jobs?state=waiting'],
        [oldest === undefined ? '–' : <Took key="oldest" from={oldest} />, 'the longest wait'],
        [number(coming), 'workers ready or coming', '/workers?state=pending'],
        [number(busy), 'at work', '/jobs?state=running'],
        [number(started), 'started in the last hour'],
      ]}
    />
  );
}

const time = (ms: number | null) => (ms === null ? <Dash /> : duration(ms));

const howMany = (
  name: string,
  of: 'jobs' | 'workers',
  state: string,
  many: (pool: Item<'listPools'>) => number,
): Column<Item<'listPools'>> =>
  figure(name, (pool) => <HowMany of={of} state={state} pool={pool.name} many={many(pool)} />);

const columnsWith = (
  hours: ReadonlyMap<string, Item<'listPools'>['minutes']>,
): readonly Column<Item<'listPools'>>[] => [
  column('Pool', ({ name, inForce, labels }) =>
    name === NO_POOL ? (
      <Link to={at`/jobs?state=waiting&pool=${name}`}>{poolName(name)}</Link>
    ) : (
      <>
        <Link to={at`/pools/${name}`} title={labels.join(', ')}>
          {name}
        </Link>
        {!inForce && <span class="quiet"> not in force</span>}
      </>
    ),
  ),
  howMany('Waiting', 'jobs', 'waiting', ({ demand }) => demand.waiting),
  figure('Longest wait', ({ demand }) =>
    demand.oldestSince === null ? (
      <Dash />
    ) : (
      <Link to={`/jobs/${demand.oldestJob}`} title="Why it waits">
        <Took from={demand.oldestSince} />
      </Link>
    ),
  ),
  wide('Demand, supply and cap', (pool) => <Bar pool={pool} />),
  column('Last hour', ({ name }) => <Sparkline hour={hours.get(name)} />),
  howMany('Starting', 'workers', 'pending', ({ supply }) => supply.starting),
  howMany('Idle', 'workers', 'running', ({ supply }) => supply.idle),
  howMany('Busy', 'jobs', 'running', ({ supply }) => supply.busy),
  howMany('Stopping', 'workers', 'stopping', ({ supply }) => supply.stopping),
  figure('Cap', ({ cap }) =>
    cap === null ? <span class="quiet">none</span> : `${number(cap.used)} / ${number(cap.limit)}`,
  ),
  figure('Queued p50', ({ lastHour }) => time(lastHour.queuedP50Ms)),
  figure('p95', ({ lastHour }) => time(lastHour.queuedP95Ms)),
];

export function Bar({ pool }: { pool: Item<'listPools'> }) {
  const stretches = stretchesOf(pool);
  const said = stretches.map(({ what, many }) => `${number(many)} ${what}`).join(', ');
  return (
    <span class="bar" title={said}>
      <span class="unseen">{said || 'nothing'}</span>
      {stretches.map(({ what, many }) => (
        <i key={what} class={what} style={{ flexGrow: many, background: `var(--bar-${what})` }} />
      ))}
    </span>
  );
}

const KEY = {
  busy: 'at work',
  idle: 'ready',
  starting: 'starting',
  stopping: 'stopping',
  waiting: 'jobs without a worker yet',
};

const Key = () => (
  <ul class="key" aria-label="Colours of the bars">
    {Object.entries(KEY).map(([what, said]) => (
      <li key={what}>
        <span class="bar">
          <i class={what} style={{ background: `var(--bar-${what})` }} />
        </span>
        {said}
      </li>
    ))}
    <li>
      <Lines area="M0 10L60 4L60 20L0 20Z" line="M0 16L60 10" />
      in the last hour: workers, and jobs that waited
    </li>
  </ul>
);

/**
 * Workers as an area and waiting jobs as a line, in the size of a word. Two paths of our own: a
 * library of charts for each row of the board would be most of the page’s weight.
 */
function Sparkline({ hour }: { hour: Item<'listPools'>['minutes'] }) {
  if (!hour) return <Dash />;
  const { waiting, workers } = hour;
  const most = greatest(waiting, workers);
  const from = workers.findIndex((value) => value !== null);
  return (
    <span title={inWords(hour)}>
      <span class="unseen">{inWords(hour)}</span>
      <Lines
        area={from < 0 ? '' : `${lineOf(workers, most)}L60 20L${from} 20Z`}
        line={lineOf(waiting, most)}
      />
    </span>
  );
}

const Lines = ({ area, line }: { area: string; line: string }) => (
  <svg class="spark" viewBox="0 0 60 20" preserveAspectRatio="none" aria-hidden="true">
    <path class="area" d={area} />
    <path class="line" d={line} />
  </svg>
);

/** The tables of workers and operations change all the time, and seldom by a failure. */
const FAILURES_EVERY_MS = 10_000;

/** As `paddock top` asks: the newest of the last day. */
const useNewest = <T,>(path: string) =>
  useAnswer<List<T>>(`${path}from=-24h&limit=10`, [], FAILURES_EVERY_MS);

const MOST_FAILURES = 5;

/** What failed lately. Nothing at all where nothing did. */
function NewestFailures() {
  const workers = useNewest<Item<'listWorkers'>>('/workers?state=failed&');
  const operations = useNewest<Item<'listOperations'>>('/operations?status=ERROR&handled=false&');
  const trouble = workers.trouble ?? operations.trouble;
  // One of two answers alone would be replaced at once: the newest may be in the other.
  const isAnswered = workers.answer !== undefined && operations.answer !== undefined;
  const failures = newestFailures(workers.answer?.items ?? [], operations.answer?.items ?? []);
  return (
    <>
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      {failures.length > 0 && (isAnswered || trouble !== undefined) && (
        <section aria-label="What failed in the last day">
          <Table
            caption="Failed in the last day"
            isPart
            columns={FAILURES}
            rows={failures.slice(0, MOST_FAILURES)}
            keyOf={({ id }) => id}
          />
          <p class="key">
            <span>
              All: <Link to="/workers?state=failed&from=-24h">workers</Link>,{' '}
              <Link to="/operations?status=ERROR&handled=false&from=-24h">operations</Link>
            </span>
          </p>
        </section>
      )}
    </>
  );
}

const FAILURES: readonly Column<Failure>[] = [
  column('Failed', ({ what, id, name }) => (
    <>
      <span class="quiet">{what}</span> <Thing kind={what} id={id} as={name} />
    </>
  )),
  column('Of', ({ of }) => <Link to={at`/find?text=${of}`}>{of}</Link>),
  wide('Because', ({ why }) => why ?? ''),
  figure('When', (failure) => <Ago at={failure.at} />),
];
