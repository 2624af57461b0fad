import type { AnswerOf, Item } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Ago, Chip, Link, OfPool, Thing, Took } from '../parts/inline.tsx';
import { DATES, ListView } from '../parts/list.tsx';
import { type Column, column, Facts, figure, Table, Timeline, wide } from '../parts/table.tsx';
import { View } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';
import { number, plain } from '../text/words.ts';
import { conditionInWords, type Diagnosis, endOf, remarkOf, stateOf } from './workers.ts';

const FILTERS = [
  { name: 'state', label: 'State', of: ['pending', 'running', 'stopping', 'ended', 'failed'] },
  { name: 'entity', label: 'Entity', hint: 'login or id', suggest: 'entities' as const },
  { name: 'pool', label: 'Pool', suggest: 'pools' as const },
  { name: 'node', label: 'Node' },
  { name: 'reason', label: 'Reason', hint: 'image_pull' },
  ...DATES,
];

export const Workers = ({ query }: ViewProps) => (
  <ListView<Item<'listWorkers'>>
    title={query.has('node') ? `Workers on ${query.get('node')}` : 'Workers'}
    path="/workers"
    query={query}
    filters={FILTERS}
    columns={WORKERS}
    keyOf={({ name }) => name}
    none="No worker fits."
    tables={['workers']}
  />
);

export const WORKERS: readonly Column<Item<'listWorkers'>>[] = [
  column('Worker', ({ name, warm }) => (
    <>
      <Thing kind="worker" id={name} />
      {warm && <span class="quiet"> warm</span>}
    </>
  )),
  column('State', (worker) => <Chip of={stateOf(worker)} />),
  wide('Remark', remarkOf),
  column('Job', ({ job }) => <Thing kind="job" id={job} />),
  column('Pool', ({ pool }) => <OfPool pool={pool} />),
  column('Entity', ({ entity, repository }) =>
    repository === null ? (
      <Thing kind="entity" id={entity.id} as={entity.login} />
    ) : (
      <Thing kind="repository" id={repository} />
    ),
  ),
  column('Node', ({ node }) => <Thing kind="node" id={node} />),
  figure('Lived', ({ createdAt, completedAt }) => <Took from={createdAt} to={completedAt} />),
  figure('Made', ({ createdAt }) => <Ago at={createdAt} />),
];

/** Where workers live, and what went wrong with them: those with the latest trouble first. */
export const Nodes = () => (
  <View<AnswerOf<'listNodes'>> path="/nodes" tables={['workers']} title="Nodes">
    {({ items }) => (
      <Table
        caption="Nodes"
        columns={NODES}
        rows={items}
        keyOf={({ node }) => node}
        none="No worker lives on a node, and none had trouble there in the last day."
      />
    )}
  </View>
);

const NODES: readonly Column<Item<'listNodes'>>[] = [
  column('Node', ({ node }) => <Thing kind="node" id={node} />),
  figure('Workers', ({ workers }) => number(workers)),
  figure('At work', ({ busy }) => number(busy)),
  wide('What went wrong with some in the last day', ({ troubles }) =>
    troubles.map(({ sentence, advice, worker, lastAt }) => (
      <p key={sentence}>
        {sentence} {advice} <Thing kind="worker" id={worker} as={<Ago at={lastAt} />} />
      </p>
    )),
  ),
];

export const Worker = ({ fields: { worker: name = '' } }: ViewProps) => (
  <View<AnswerOf<'findWorker'>>
    path={at`/workers/${name}`}
    tables={['workers']}
    title={name}
    beside={(worker, again) => (
      <>
        <Chip of={stateOf(worker)} />
        {worker.completedAt === null && (
          <Act label="Drain …" method="POST" path={at`/drain/worker/${name}`} again={again}>
            Stops the worker once everything proves that no job runs on it. If jobs wait for it,
            another one is made.
          </Act>
        )}
      </>
    )}
  >
    {(worker) => (
      <>
        <Trouble worker={worker} />
        <h2>Worker</h2>
        <Facts of={factsOf(worker)} />
        <Timeline name="Timeline" of={worker.timeline} />
      </>
    )}
  </View>
);

const factsOf = ({ job, madeFor, stuck, ...worker }: AnswerOf<'findWorker'>) => ({
  Job: job && <Thing kind="job" id={job} />,
  'Made for': madeFor && madeFor !== job ? <Thing kind="job" id={madeFor} /> : null,
  Stuck: stuck && (
    <>
      {plain(stuck.reason)}
      {stuck.since && (
        <>
          {' '}
          for <Took from={stuck.since} to={worker.completedAt} />
        </>
      )}
    </>
  ),
  'To end because of': worker.stop && plain(worker.stop.reason),
  'Its stop is held up by': worker.stopHeldBy,
  Pool: <OfPool pool={worker.pool} />,
  Entity: <Thing kind="entity" id={worker.entity.id} as={worker.entity.login} />,
  Repository: worker.repository && <Thing kind="repository" id={worker.repository} />,
  Lived: <Took from={worker.createdAt} to={worker.completedAt} />,
  Node: <Thing kind="node" id={worker.node} />,
  Namespace: worker.namespace,
  Cluster: worker.cluster,
  'Pod uid': worker.podUid && <span class="mono">{worker.podUid}</span>,
  Image: worker.image,
  'Exit code': worker.exitCode,
  Labels: worker.labels.join(', '),
  Runner: worker.runner,
  App: worker.app,
  Installation: <Thing kind="installation" id={worker.installation} />,
  Operations: <Link to={at`/operations?subject=${`worker:${worker.name}`}`}>its operations</Link>,
});

function Trouble({ worker: { diagnosis, noLog, state } }: { worker: AnswerOf<'findWorker'> }) {
  if (diagnosis === null)
    return state === 'failed' && noLog !== null ? <p class="quiet">{noLog}</p> : null;
  const { message, pod, containers = [], events = [] } = diagnosis as Diagnosis;
  return (
    <section aria-label="Diagnosis">
      {message && <p class={state === 'ended' ? 'held' : 'trouble'}>{message}</p>}
      <ul class="quiet">
        {pod?.conditions.map((condition) => (
          <li key={condition.type}>{conditionInWords(condition)}</li>
        ))}
      </ul>
      {containers.map((container) => (
        <div key={container.name}>
          <h2>
            Container {container.name} <span class="quiet">{endOf(container)}</span>
          </h2>
          {container.log?.trim() && (
            <pre tabIndex={0} aria-label={`The end of the log of ${container.name}`}>
              {container.log}
            </pre>
          )}
        </div>
      ))}
      {noLog !== null && <p class="quiet">{noLog}</p>}
      <Table caption="Events of the pod" isPart columns={EVENTS} rows={events} />
      <details>
        <summary>The diagnosis as it is stored</summary>
        <pre>{JSON.stringify(diagnosis, null, 2)}</pre>
      </details>
    </section>
  );
}

const EVENTS: readonly Column<NonNullable<Diagnosis['events']>[number]>[] = [
  column('Reason', ({ reason }) => reason),
  wide('Message', ({ message }) => message),
  column('From', ({ source }) => source),
  figure('Times', ({ count }) => count),
];
