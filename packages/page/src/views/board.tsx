import { duration } from '@paddock/domain/text/duration';
import { useEffect } from 'preact/hooks';
import type { LastHour, Pool, PoolHour, Switch } from '../answers.ts';
import { Answer } from '../parts/answer.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { greatest, inWords, lineOf } from '../parts/last-hour.ts';
import { type Column, Table } from '../parts/table.tsx';
import { Ago, Took, Until } from '../parts/time.tsx';
import { pushedPools, showsPools } from '../state/live.ts';
import { useAnswer } from '../state/use-answer.ts';
import { NO_POOL, number, poolName } from '../text/words.ts';
import { EVERY_MS } from './pool-charts.tsx';
import { inOrder, stretchesOf, totalsOf } from './board.ts';
import { NewestFailures } from './newest-failures.tsx';

interface Pools {
  readonly items: readonly Pool[];
}

/** The fleet: each pool’s demand beside its supply beside its cap. */
export function Board() {
  // Asked once; then the list travels with the changes.
  const asked = useAnswer<Pools>('/pools', []);
  useEffect(() => {
    showsPools.value = true;
    return () => {
      showsPools.value = false;
      pushedPools.value = undefined;
    };
  }, []);
  const lastHour = useAnswer<LastHour>('/pools/last-hour', [], EVERY_MS).answer;
  const hours = new Map(lastHour?.items.map((hour) => [hour.pool, hour]));
  const pushed = pushedPools.value as Pools | undefined;
  return (
    <>
      <Heading title="Fleet" />
      <Answer of={pushed === undefined ? asked : { answer: pushed, again: asked.again }}>
        {({ items }) => (
          <>
            <Headline pools={items} />
            {items.map((pool) => (
              <HeldBack key={pool.name} pool={pool} />
            ))}
            <AllSwitches />
            <Table
              caption="Pools"
              columns={columnsWith(hours)}
              rows={inOrder(items)}
              keyOf={({ name }) => name}
              none="No pool is in force. The scheduler loads them from the configuration file."
            />
            <Key />
            <NewestFailures />
          </>
        )}
      </Answer>
    </>
  );
}

/** What people hold back, which goes before every other reason to wait. */
function AllSwitches() {
  const { answer } = useAnswer<{ items: readonly Switch[] }>('/switches', ['switches']);
  return <Held items={answer?.items ?? []} />;
}

/** Who holds back what, since when and why. */
export function Held({ items }: { items: readonly Switch[] }) {
  return (
    <>
      {items.map(({ subject, name, by, since, note }) => (
        <p class="held" key={subject}>
          <strong>{by}</strong> holds back {name ?? subject}, since <Ago at={since} />
          {note !== null && `: ${note}`} <Link to="/switches">Switches</Link>
        </p>
      ))}
    </>
  );
}

function Headline({ pools }: { pools: readonly Pool[] }) {
  const { waiting, coming, busy, oldest, started } = totalsOf(pools);
  return (
    <ul class="headline">
      <li>
        <Link to="/jobs?state=waiting">
          <b>{number(waiting)}</b> waiting
        </Link>
      </li>
      <li>
        <b>{oldest === null ? '–' : <Took from={oldest} to={null} />}</b> the longest wait
      </li>
      <li>
        <Link to="/workers?state=pending">
          <b>{number(coming)}</b> workers ready or coming
        </Link>
      </li>
      <li>
        <Link to="/jobs?state=running">
          <b>{number(busy)}</b> at work
        </Link>
      </li>
      <li>
        <b>{number(started)}</b> started in the last hour
      </li>
    </ul>
  );
}

const link = (kind: 'jobs' | 'workers', state: string, pool: string, many: number) =>
  many === 0 ? (
    <span class="quiet">0</span>
  ) : (
    <Link to={`/${kind}?${new URLSearchParams({ state, pool }).toString()}`}>{number(many)}</Link>
  );

const time = (ms: number | null) => (ms === null ? <span class="quiet">–</span> : duration(ms));

const columnsWith = (hours: ReadonlyMap<string, PoolHour>): readonly Column<Pool>[] => [
  ...COLUMNS.slice(0, 4),
  { name: 'Last hour', of: ({ name }) => <Sparkline hour={hours.get(name)} /> },
  ...COLUMNS.slice(4),
];

const COLUMNS: readonly Column<Pool>[] = [
  {
    name: 'Pool',
    of: ({ name, inForce, labels }) =>
      name === NO_POOL ? (
        <Link to={`/jobs?${new URLSearchParams({ state: 'waiting', pool: name }).toString()}`}>
          {poolName(name)}
        </Link>
      ) : (
        <>
          <Link to={`/pools/${encodeURIComponent(name)}`} title={labels.join(', ')}>
            {name}
          </Link>
          {!inForce && <span class="quiet"> no longer in force</span>}
        </>
      ),
  },
  {
    name: 'Waiting',
    isNumber: true,
    of: ({ name, demand }) => link('jobs', 'waiting', name, demand.waiting),
  },
  {
    name: 'Longest wait',
    isNumber: true,
    of: ({ demand }) =>
      demand.oldestSince === null ? (
        <span class="quiet">–</span>
      ) : (
        <Link to={`/jobs/${demand.oldestJob}`} title="Why it waits">
          <Took from={demand.oldestSince} to={null} />
        </Link>
      ),
  },
  { name: 'Demand, supply and cap', isWide: true, of: (pool) => <Bar pool={pool} /> },
  {
    name: 'Starting',
    isNumber: true,
    of: ({ name, supply }) => link('workers', 'pending', name, supply.starting),
  },
  {
    name: 'Idle',
    isNumber: true,
    of: ({ name, supply }) => link('workers', 'running', name, supply.idle),
  },
  {
    name: 'Busy',
    isNumber: true,
    of: ({ name, supply }) => link('jobs', 'running', name, supply.busy),
  },
  {
    name: 'Stopping',
    isNumber: true,
    of: ({ name, supply }) => link('workers', 'stopping', name, supply.stopping),
  },
  {
    name: 'Cap',
    isNumber: true,
    of: ({ cap }) =>
      cap === null ? <span class="quiet">none</span> : `${number(cap.used)} / ${number(cap.limit)}`,
  },
  { name: 'Queued p50', isNumber: true, of: ({ lastHour }) => time(lastHour.queuedP50Ms) },
  { name: 'p95', isNumber: true, of: ({ lastHour }) => time(lastHour.queuedP95Ms) },
];

export function Bar({ pool }: { pool: Pool }) {
  const stretches = stretchesOf(pool);
  const said = stretches.map(({ what, many }) => `${number(many)} ${what}`).join(', ');
  return (
    <span class="bar" title={said}>
      <span class="unseen">{said || 'nothing'}</span>
      {stretches.map(({ what, many }) => (
        <i key={what} class={what} style={{ flexGrow: many }} />
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
          <i class={what} />
        </span>
        {said}
      </li>
    ))}
    <li>
      <svg class="spark" viewBox="0 0 60 20" preserveAspectRatio="none" aria-hidden="true">
        <path class="area" d="M0 10L60 4L60 20L0 20Z" />
        <path class="line" d="M0 16L60 10" />
      </svg>
      in the last hour: workers, and jobs that waited
    </li>
  </ul>
);

/** What holds new workers of a pool back. */
export const HeldBack = ({ pool: { name, heldBack } }: { pool: Pool }) => (
  <>
    {heldBack.map(({ what, entity, login, message, since, until }) => (
      <p class="trouble" key={`${what} ${entity} ${since}`}>
        <strong>{entity === null ? what : name}</strong>
        {entity !== null && ` for ${login ?? `the entity ${entity}`}`}: {message}{' '}
        <span class="quiet">
          ({entity === null ? 'away' : what} since <Ago at={since} />
          {until !== null && (
            <>
              , tries again <Until at={until} />
            </>
          )}
          )
        </span>
      </p>
    ))}
  </>
);

/**
 * Workers as an area and waiting jobs as a line, in the size of a word. Two paths of our own: a
 * library of charts for each row of the board would be most of the page’s weight.
 */
function Sparkline({ hour }: { hour: PoolHour | undefined }) {
  if (hour === undefined) return <span class="quiet">–</span>;
  const most = greatest(hour.waiting, hour.workers);
  const workers = lineOf(hour.workers, most);
  const from = hour.workers.findIndex((value) => value !== null);
  return (
    <span title={inWords(hour)}>
      <span class="unseen">{inWords(hour)}</span>
      <svg class="spark" viewBox="0 0 60 20" preserveAspectRatio="none" aria-hidden="true">
        {from >= 0 && <path class="area" d={`${workers}L60 20L${from} 20Z`} />}
        <path class="line" d={lineOf(hour.waiting, most)} />
      </svg>
    </span>
  );
}
