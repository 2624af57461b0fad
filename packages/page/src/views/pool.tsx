import type { DrainedPool } from '@paddock/api/workers/drain';
import { duration } from '@paddock/domain/text/duration';
import { useMemo } from 'preact/hooks';
import type { AnswerOf, Item } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Chart } from '../parts/chart.tsx';
import { History, secondsInWords } from '../parts/history.tsx';
import { Ago, At, HowMany, Link, Meter, Thing, Took } from '../parts/inline.tsx';
import { instantsOf, inWords, type Minutes } from '../parts/last-hour.ts';
import { type Column, column, Facts, figure, Table, wide } from '../parts/table.tsx';
import { Answer, Heading } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';
import { useAnswer } from '../state/use-answer.ts';
import { count, number } from '../text/words.ts';
import { Bar, HOUR_EVERY_MS } from './board.tsx';
import { Hindrances, OF_POOLS, useHindrances } from './hindrances.tsx';
import { WORKERS } from './workers.tsx';

export function Pool({ fields: { pool: name = '' } }: ViewProps) {
  const shown = useAnswer<AnswerOf<'listPools'>>('/pools', OF_POOLS);
  const pool = shown.answer?.items.find((one) => one.name === name);
  const { idle = 0, starting = 0 } = pool?.supply ?? {};
  const held = useHindrances(name);
  const isHeld = held.answer?.items.some(({ subject }) => subject === `pool:${name}`);
  return (
    <>
      <Heading title={name}>
        {pool?.inForce && (
          <>
            {isHeld !== true && (
              <Act
                label="Stop making …"
                method="POST"
                path={at`/switches/${`pool:${name}`}/pause`}
                again={held.again}
              >
                Stops the making of workers in the pool {name} at once. Its workers go on.
              </Act>
            )}
            <Act
              label="Drain …"
              method="POST"
              path={at`/drain/pool/${name}`}
              again={held.again}
              shown={drained}
              hasDryRun
              isGrave
            >
              Stops the making of workers in the pool {name}, and {count(idle + starting, 'worker')}{' '}
              on which no job runs. Busy ones go on to their end.
            </Act>
          </>
        )}
      </Heading>
      <Answer of={shown}>
        {() =>
          pool === undefined ? (
            <Former name={name} />
          ) : (
            <>
              <Hindrances of={held} pool={name} />
              <Row {...pool} />
            </>
          )
        }
      </Answer>
    </>
  );
}

/** A pool that no file has now, and that no job or worker names. */
function Former({ name }: { name: string }) {
  const wrong = useAnswer<AnswerOf<'findPool'>>(at`/pools/${name}`, OF_POOLS);
  return (
    <Answer of={wrong}>
      {(one) => (
        <>
          <p class="none">The configuration no longer has this pool.</p>
          <PoolState name={name} {...one} />
        </>
      )}
    </Answer>
  );
}

const drained = ({ output }: AnswerOf<'findOperation'>) => {
  const { stopping, busy, dryRun } = output as DrainedPool;
  return (
    <p>
      {count(stopping, 'worker')} {dryRun ? 'would' : 'will'} stop; {number(busy)} at work.
    </p>
  );
};

function Row(pool: Item<'listPools'>) {
  const { name, labels, demand, supply, cap, lastHour } = pool;
  const wrong = useAnswer<AnswerOf<'findPool'>>(at`/pools/${name}`, OF_POOLS);
  const { queuedP50Ms, queuedP95Ms } = lastHour;
  const of = (kind: 'jobs' | 'workers', state: string, many: number) => (
    <HowMany of={kind} state={state} pool={name} many={many} />
  );
  return (
    <>
      <Bar pool={pool} />
      {cap !== null && (
        <ul class="meters">
          <Meter name="maxWorkers" {...cap} />
        </ul>
      )}
      <Answer of={wrong}>{(one) => <PoolState name={name} {...one} />}</Answer>
      <h2>Pool</h2>
      <Facts
        of={{
          Labels: labels.join(', '),
          'Jobs that wait': of('jobs', 'waiting', demand.waiting),
          'The oldest waits': demand.oldestSince && (
            <Link to={`/jobs/${demand.oldestJob}`}>
              <Took from={demand.oldestSince} />
            </Link>
          ),
          'Workers on their way': of('workers', 'pending', supply.starting),
          'Ready workers': of('workers', 'running', supply.idle),
          'At work': of('jobs', 'running', supply.busy),
          Stopping: of('workers', 'stopping', supply.stopping),
          'Started in the last hour': number(lastHour.started),
          'Queued, median': queuedP50Ms === null ? null : duration(queuedP50Ms),
          'Queued, 95th percentile': queuedP95Ms === null ? null : duration(queuedP95Ms),
          Operations: <Link to={at`/operations?subject=${`pool:${name}`}`}>its operations</Link>,
          Failures: <Link to={at`/workers?state=failed&pool=${name}`}>its failed workers</Link>,
        }}
      />
      {wrong.answer?.template && <Settings {...wrong.answer} />}
      <Charts pool={name} limit={cap?.limit} />
      <History of={{ pool: name }} />
    </>
  );
}

function Charts({ pool, limit }: { pool: string; limit: number | undefined }) {
  const { answer } = useAnswer<AnswerOf<'listPools'>>(
    at`/pools?minutes=true&pool=${pool}`,
    [],
    HOUR_EVERY_MS,
  );
  const hour = answer?.items[0]?.minutes;
  const drawn = useMemo(() => hour && toLines(hour, limit), [hour, limit]);
  if (answer === undefined) return null;
  if (!hour || !drawn) return <p class="none">In the last hour it had neither job nor worker.</p>;
  return (
    <>
      <Chart
        label="Jobs and workers in the last hour"
        instants={drawn.instants}
        said={whole}
        lines={drawn.many}
      >
        <p class="quiet">{inWords(hour)}</p>
      </Chart>
      <Chart
        label="How long jobs were queued that started then"
        instants={drawn.instants}
        said={secondsInWords}
        lines={drawn.queued}
      />
    </>
  );
}

const whole = (value: number): string => (Number.isInteger(value) ? number(value) : '');

/** What is drawn: the same as long as the answer is. */
function toLines(hour: Minutes, limit: number | undefined) {
  const instants = instantsOf(hour);
  const cap = { name: 'cap today', values: instants.map(() => limit ?? null), isDashed: true };
  const [median, most] = [hour.queuedP50Ms, hour.queuedP95Ms].map((values) =>
    values.map((ms) => (ms === null ? null : ms / 1_000)),
  );
  return {
    instants,
    many: [
      { name: 'workers', values: hour.workers, colour: '--bar-starting', isArea: true },
      { name: 'at work', values: hour.busy, colour: '--bar-busy', isArea: true },
      { name: 'waiting', values: hour.waiting, colour: '--bar-waiting' },
      ...(limit === undefined ? [] : [{ ...cap, colour: '--quiet' }]),
    ],
    queued: [
      { name: 'median', values: median ?? [], colour: '--bar-idle', hasPoints: true },
      { name: '95th percentile', values: most ?? [], colour: '--bar-waiting', hasPoints: true },
    ],
  };
}

function PoolState({ name, troubles, changes }: AnswerOf<'findPool'> & { name: string }) {
  const path = at`/workers?state=failed&limit=10&pool=${name}`;
  const failed = useAnswer<AnswerOf<'listWorkers'>>(path, ['workers']).answer;
  return (
    <>
      <Table
        caption="What went wrong with its workers in the last day"
        isPart
        columns={TROUBLES}
        rows={troubles}
        none="Its workers start, and none failed in the last day."
      />
      <Table
        caption="Its last failed workers"
        isPart
        columns={WORKERS}
        rows={failed?.items ?? []}
        keyOf={(worker) => worker.name}
      />
      <Table
        caption="What changed last in the file"
        isPart
        columns={CHANGES}
        rows={changes}
        keyOf={({ version }) => version}
      />
    </>
  );
}

const TROUBLES: readonly Column<AnswerOf<'findPool'>['troubles'][number]>[] = [
  wide('Trouble', ({ sentence }) => sentence),
  wide('What to do', ({ advice }) => advice),
  column('Nodes', ({ nodes }) =>
    nodes.slice(0, 3).map((node) => <Thing key={node} kind="node" id={node} />),
  ),
  figure('Since', ({ since }) => <Ago at={since} />),
  column('Newest', ({ worker }) => <Thing kind="worker" id={worker} />),
];

const CHANGES: readonly Column<AnswerOf<'findPool'>['changes'][number]>[] = [
  column('Loaded', (change) => <At at={change.at} />),
  figure('Version', ({ version }) => version),
  wide('What', ({ lines }) =>
    lines.map((line) => (
      <p key={line}>{line.startsWith('-') ? <del>{line}</del> : <ins>{line}</ins>}</p>
    )),
  ),
  figure('Ago', (change) => <Ago at={change.at} />),
];

const Settings = ({ settings, template }: AnswerOf<'findPool'>) => (
  <>
    <h2>Settings in force</h2>
    <Facts of={settings} />
    <details>
      <summary>The template of its pods</summary>
      <pre tabIndex={0} aria-label="The template of its pods">
        {template}
      </pre>
    </details>
  </>
);
