import type { DrainedPool } from '@paddock/api/pools/pools';
import { duration } from '@paddock/domain/text/duration';
import type { Operation, Pool as PoolAnswer, Switch } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Answer } from '../parts/answer.tsx';
import { Facts } from '../parts/facts.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { Meter } from '../parts/chip.tsx';
import { Took } from '../parts/time.tsx';
import { type Shown, useAnswer } from '../state/use-answer.ts';
import { count, number } from '../text/words.ts';
import { Bar, HeldBack, Held } from './board.tsx';
import { PoolCharts } from './pool-charts.tsx';
import { switchPath } from './switches.ts';
import type { ViewProps } from './view.ts';

/** One pool, with what may be done to it. */
export function Pool({ fields: { pool: name = '' } }: ViewProps) {
  const shown = useAnswer<{ items: readonly PoolAnswer[] }>('/pools', [
    'jobs',
    'workers',
    'demand_keys',
    'outages',
    'pools_documents',
  ]);
  const pool = shown.answer?.items.find((one) => one.name === name);
  const { idle = 0, starting = 0 } = pool?.supply ?? {};
  const switches = useAnswer<{ items: readonly Switch[] }>('/switches?limit=100', ['switches']);
  const held = switches.answer?.items.filter(({ subject }) =>
    [`pool:${name}`, 'environment'].includes(subject),
  );
  return (
    <>
      <Heading title={name}>
        {pool?.inForce && (
          <>
            <Making pool={name} of={switches} />
            <Act
              label="Drain …"
              method="POST"
              path={`/pools/${encodeURIComponent(name)}/drain`}
              again={switches.again}
              shown={drained}
              isGrave
            >
              Stops the making of workers in the pool {name}, and {count(idle + starting, 'worker')}{' '}
              on which no job runs. Busy ones go on to their end.
            </Act>
          </>
        )}
      </Heading>
      <Held items={held ?? []} />
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

const drained = ({ output }: Operation) => {
  const { stopping, busy } = output as DrainedPool;
  return (
    <p>
      {count(stopping, 'worker')} will stop; {number(busy)} at work.
    </p>
  );
};

/** Stops the making of the pool's workers, or lets it go on: whoever sees the one acts on it here. */
function Making({ pool, of }: { pool: string; of: Shown<{ items: readonly Switch[] }> }) {
  const subject = `pool:${pool}`;
  const path = switchPath(subject);
  return of.answer?.items.some((held) => held.subject === subject) ? (
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
      <HeldBack pool={pool} />
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
