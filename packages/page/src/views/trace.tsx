import type { AnswerOf, Item } from '../answers.ts';
import { History } from '../parts/history.tsx';
import { Ago, At, Link, Thing, Words } from '../parts/inline.tsx';
import { DATES, ListView } from '../parts/list.tsx';
import { type Column, column, Facts, figure, wide } from '../parts/table.tsx';
import { View } from '../parts/view.tsx';
import { at, type Thing as Named, type ViewProps } from '../paths.ts';
import { useAnswer } from '../state/use-answer.ts';
import { number, plain } from '../text/words.ts';

const FILTERS = [
  { name: 'kind', label: 'Kind', of: ['event', 'job', 'worker', 'operation', 'action'] },
  ...DATES,
];

export function Trace({ fields: { entity, installation, job }, query }: ViewProps) {
  const by = job !== undefined ? 'job' : installation !== undefined ? 'installation' : 'entity';
  const id = job ?? installation ?? entity ?? '';
  return (
    <ListView<Item<'trace'>, AnswerOf<'trace'>>
      title={by === 'entity' ? `What happened to ${id}` : `What happened to ${by} ${id}`}
      titleOf={({ entity: whose }) =>
        by === 'entity' && whose?.login ? `What happened to ${whose.login}` : undefined
      }
      path={at`/trace/${by}/${id}`}
      query={query}
      filters={FILTERS}
      head={(answer) => <Head {...answer} />}
      columns={COLUMNS}
      // One row may stand there with each of its instants.
      keyOf={(item) => `${item.kind} ${readItem(item).id} ${item.what}`}
      none="Nothing of this is stored, or not from that time."
      tables={['jobs', 'workers', 'operations', 'tasks', 'installation_events', 'actions']}
      {...(by === 'entity' && {
        foot: ({ entity: whose }) => whose && <History of={{ entity: String(whose.id) }} />,
      })}
    >
      {by !== 'entity' && <Thing kind={by} id={id} as={`The ${by}`} />}
    </ListView>
  );
}

const Head = ({ entity }: AnswerOf<'trace'>) =>
  entity === null ? null : (
    <>
      <Diagnoses of={String(entity.id)} />
      <p class="key">
        <span>
          Entity {entity.login !== null && <b>{entity.login}</b>} {entity.id}
          {entity.formerly.length > 0 && `, formerly ${entity.formerly.join(', ')}`}
        </span>
        {entity.login !== null && <Link to={at`/jobs?entity=${entity.login}`}>its jobs</Link>}
        <Link to={at`/workers?entity=${entity.id}`}>its workers</Link>
      </p>
    </>
  );

/** What is wrong with an entity or a repository, what decides most first. Nothing: no word of it. */
export function Diagnoses({ of }: { of: string }) {
  const { answer } = useAnswer<AnswerOf<'listDiagnoses'>>(at`/diagnoses?of=${of}`, [
    'installations',
    'installation_events',
    'demand_keys',
  ]);
  return (
    <>
      {answer?.items.map(({ name, sentence, since, actor, advice }) => (
        <p class={actor === 'wait' ? 'held' : 'trouble'} key={`${name} ${sentence}`}>
          <strong>
            <Words of={sentence} />
          </strong>{' '}
          <Words of={advice} />{' '}
          {since !== null && (
            <span class="quiet">
              (<Ago at={since} />)
            </span>
          )}
        </p>
      ))}
    </>
  );
}

const COLUMNS: readonly Column<Item<'trace'>>[] = [
  column('At', (item) => <At at={item.at} />),
  column('Kind', ({ kind }) => <span class="quiet">{kind}</span>),
  wide('What', ({ what }) => what),
  column('Of', (item) =>
    readItem(item).subjects.map(({ kind, id, name }, index) => (
      <span key={kind}>
        {index > 0 && ', '}
        <Thing kind={kind} id={id} as={name} />
      </span>
    )),
  ),
  column('Repository', (item) => <Thing kind="repository" id={readItem(item).repository} />),
  figure('Ago', (item) => <Ago at={item.at} />),
];

export const Event = ({ fields: { event: id = '' } }: ViewProps) => (
  <View<AnswerOf<'traceEvent'>>
    path={at`/trace/payload/${id}`}
    tables={[]}
    title={`Event ${id}`}
    titleOf={({ event }) => event.event}
  >
    {({ event, size, payload }) => (
      <>
        <Facts
          of={{
            Outcome: plain(event.outcome),
            Heard: event.source === 'webhook' ? 'as a delivery' : `by the ${event.source}`,
            Received: <At at={event.receivedAt} />,
            Delivery: event.guid && <Thing kind="delivery" id={event.guid} />,
            Job: event.job && <Thing kind="job" id={event.job} />,
            Repository: event.repository && (
              <Thing kind="repository" id={event.repository.fullName ?? event.repository.id} />
            ),
            Installation: event.installation && (
              <Thing kind="installation" id={event.installation} />
            ),
            App: event.app,
            Id: event.id,
          }}
        />
        <h2>
          Payload <span class="quiet">{number(size)} characters</span>
        </h2>
        {payload === null ? (
          <p class="none">It is too long to be shown.</p>
        ) : (
          <pre tabIndex={0} aria-label="Payload">
            {JSON.stringify(payload, null, 2)}
          </pre>
        )}
      </>
    )}
  </View>
);

interface Subject extends Named {
  readonly name: string;
}

/** What a row of a trace is about: the row itself first, then what it names. */
function readItem(item: Item<'trace'>): {
  readonly id: string | number;
  readonly repository: string | null;
  readonly subjects: readonly Subject[];
} {
  switch (item.kind) {
    case 'event': {
      const { id, job, repository } = item.event;
      const event = { kind: 'event', id, name: 'event' } as const;
      return { id, repository: repository?.fullName ?? null, subjects: [event, ...ofJob(job)] };
    }
    case 'job': {
      const { id, name, repository } = item.job;
      return { id, repository: repository.fullName, subjects: [{ kind: 'job', id, name }] };
    }
    case 'worker': {
      const { name, job, repository } = item.worker;
      const worker = { kind: 'worker', id: name, name } as const;
      return { id: name, repository, subjects: [worker, ...ofJob(job)] };
    }
    case 'operation':
      return { id: item.operation.id, repository: null, subjects: ofOperation(item.operation.id) };
    case 'action':
      return { id: item.action.id, repository: null, subjects: ofOperation(item.action.operation) };
    default:
      return item satisfies never;
  }
}

const ofJob = (job: number | null): Subject[] =>
  job === null ? [] : [{ kind: 'job', id: job, name: `job ${job}` }];

const ofOperation = (id: string | null): Subject[] =>
  id === null ? [] : [{ kind: 'operation', id, name: 'operation' }];
