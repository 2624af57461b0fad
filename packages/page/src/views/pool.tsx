import { duration } from '@paddock/domain/text/duration';
import type { Pool as PoolAnswer, Stop } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Answer } from '../parts/answer.tsx';
import { Facts } from '../parts/facts.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { Meter } from '../parts/meter.tsx';
import { Took } from '../parts/time.tsx';
import { type Shown, useAnswer } from '../state/use-answer.ts';
import { count, number } from '../text/words.ts';
import { Bar, Breakers, Stops } from './board.tsx';
import { PoolCharts } from './pool-charts.tsx';
import type { ViewProps } from './view.ts';

/** One pool, with what may be done to it. */
export function Pool({ fields: { pool: name = '' } }: ViewProps) {
  const shown = useAnswer<{ items: readonly PoolAnswer[] }>('/pools', [
    'jobs',
    'workers',
    'breakers',
    'pools_documents',
  ]);
  const pool = shown.answer?.items.find((one) => one.name === name);
  const { idle = 0, starting = 0 } = pool?.supply ?? {};
  const stops = useAnswer<{ items: readonly Stop[] }>('/stops?limit=100', ['stopped_making']);
  const held = stops.answer?.items.filter(
    ({ what, subject }) => what === 'making' && [`pool:${name}`, 'environment'].includes(subject),
  );
  return (
    <>
      <Heading title={name}>
        {pool?.inForce && (
          <>
            <Making pool={name} of={stops} />
            <Act
              label="Drain …"
              method="POST"
              path={`/pools/${encodeURIComponent(name)}/drain`}
              isGrave
            >
              Stops the making of workers in the pool {name}, and {count(idle + starting, 'worker')}{' '}
              on which no job runs. Busy ones go on to their end.
            </Act>
          </>
        )}
      </Heading>
      <Stops items={held ?? []} />
      <Answer of={shown}>
        {() =>
          pool === undefined ? (
            <p class="none">There is no pool of this name, and neither job nor worker names it.</p>
          ) : (
            <Row pool={pool} />
          )
        }
      </Answer>
    </>
  );
}

/** Stops the making of the pool's workers, or lets it go on: whoever sees the one acts on it here. */
function Making({ pool, of }: { pool: string; of: Shown<{ items: readonly Stop[] }> }) {
  const subject = `pool:${pool}`;
  const isStopped = of.answer?.items.some(
    (stop) => stop.what === 'making' && stop.subject === subject,
  );
  const path = `/stops/${encodeURIComponent(subject)}`;
  return isStopped ? (
    <Act label="Resume …" method="DELETE" path={path} again={of.again}>
      Lets the making of workers in the pool {pool} go on.
    </Act>
  ) : (
    <Act label="Stop making …" method="PUT" path={path} again={of.again}>
      Stops the making of workers in the pool {pool} at once. Its workers go on.
    </Act>
  );
}

function Row({ pool }: { pool: PoolAnswer }) {
  const { name, labels, demand, supply, cap, lastHour } = pool;
  const { queuedP50Ms, queuedP95Ms } = lastHour;
  const of = (kind: 'jobs' | 'workers', state: string, many: number) => (
    <Link to={`/${kind}?${new URLSearchParams({ state, pool: name }).toString()}`}>
      {number(many)}
    </Link>
  );
  return (
    <>
      <Breakers pool={pool} />
      <Bar pool={pool} />
      {cap !== null && (
        <ul class="meters">
          <Meter name="maxWorkers" {...cap} />
        </ul>
      )}
      <PoolCharts pool={pool} />
      <h2>Pool</h2>
      <Facts
        of={{
          Labels: labels.join(', '),
          'Jobs that wait': of('jobs', 'waiting', demand.waiting),
          'The oldest waits': demand.oldestSince && (
            <Link to={`/jobs/${demand.oldestJob}`}>
              <Took from={demand.oldestSince} to={null} />
            </Link>
          ),
          'Workers on their way': of('workers', 'pending', supply.starting),
          'Ready workers': of('workers', 'running', supply.idle),
          'At work': of('jobs', 'running', supply.busy),
          Stopping: of('workers', 'stopping', supply.stopping),
          'Started in the last hour': number(lastHour.started),
          'Queued, median': queuedP50Ms === null ? null : duration(queuedP50Ms),
          'Queued, 95th percentile': queuedP95Ms === null ? null : duration(queuedP95Ms),
          Failures: (
            <Link to={`/workers?state=failed&pool=${encodeURIComponent(name)}`}>
              its failed workers
            </Link>
          ),
        }}
      />
    </>
  );
}
