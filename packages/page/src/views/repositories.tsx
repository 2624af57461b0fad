import type { AnswerOf, Item } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Ago, Chip, Link, Thing } from '../parts/inline.tsx';
import { ListView } from '../parts/list.tsx';
import { type Column, column, Facts, figure, Table, wide } from '../parts/table.tsx';
import { View } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';
import type { Watched } from '../state/live.ts';
import { useAnswer } from '../state/use-answer.ts';
import { DELIVERIES } from './job.tsx';
import { COLUMNS as OPERATIONS } from './operations.tsx';
import { Diagnoses } from './trace.tsx';

/** What the state of a repository rests on. */
const TABLES: readonly Watched[] = ['switches', 'installations', 'tasks', 'operations'];

export const Repositories = ({ query }: ViewProps) => (
  <ListView<Item<'listRepositories'>>
    title="Repositories"
    path="/repositories"
    query={query}
    filters={[{ name: 'entity', label: 'Entity', hint: 'login or id' }]}
    columns={COLUMNS}
    keyOf={({ id }) => id}
    none="Paddock has heard of no repository."
    tables={TABLES}
  />
);

const COLUMNS: readonly Column<Item<'listRepositories'>>[] = [
  wide('Repository', ({ fullName }) => <Thing kind="repository" id={fullName} />),
  column('Looked through', Enabled),
  column('Last resync', LastSync),
  figure('Discovery read it', ({ lookedAt }) => lookedAt && <Ago at={lookedAt} />),
  figure('Active', ({ activeAt }) => activeAt && <Ago at={activeAt} />),
];

function Enabled({ enabled, disabled }: Item<'listRepositories'>) {
  return (
    <>
      <Chip of={enabled ? 'enabled' : 'disabled'} /> <span class="quiet">{disabled}</span>
    </>
  );
}

/** How the last resync stands; it leads to its operation. */
function LastSync({ lastSync }: Item<'listRepositories'>) {
  if (lastSync === null) return <span class="quiet">never</span>;
  const { status, at: when, operation, why } = lastSync;
  return (
    <>
      <Thing kind="operation" id={operation} as={<Chip of={status} />} />
      {operation === null && <Chip of={status} />} <Ago at={when} />
      {why !== null && <span class="quiet"> {why}</span>}
    </>
  );
}

export function Repository({ fields: { owner = '', repository: name = '' } }: ViewProps) {
  const path = at`/repositories/${owner}/${name}`;
  return (
    <View<AnswerOf<'findRepository'>>
      path={path}
      tables={[...TABLES, 'installation_events']}
      title={`${owner}/${name}`}
      titleOf={({ fullName }) => fullName}
      beside={({ fullName, resyncs: { subject, held }, enabled }, again) => (
        <>
          <Chip of={enabled ? 'enabled' : 'disabled'} />
          <Act label="Resync …" method="POST" path={`${path}/resync`} again={again}>
            Compares all unfinished runs of {fullName} at GitHub with our jobs.
          </Act>
          <Act
            label={held === null ? 'Forbid resyncs …' : 'Allow resyncs …'}
            method="POST"
            path={at`/switches/${subject}/${held === null ? 'pause' : 'resume'}`}
            again={again}
          >
            {held === null
              ? `Refuses resyncs of ${fullName} from now on. One that runs ends within seconds.`
              : `Allows resyncs of ${fullName} again.`}
          </Act>
        </>
      )}
    >
      {(repository) => <Row {...repository} />}
    </View>
  );
}

function Row(repository: AnswerOf<'findRepository'>) {
  const { id, fullName, entity, disabled, deliveries } = repository;
  const { lookedAt, unansweredSince, activeAt } = repository;
  const ofIt = at`/operations?subject=${`repository:${fullName}`}`;
  const operations = useAnswer<AnswerOf<'listOperations'>>(`${ofIt}&limit=10`, [
    'tasks',
    'operations',
  ]);
  return (
    <>
      <Diagnoses of={fullName} />
      {disabled !== null && (
        <p class="held">
          <strong>Paddock does not look for its jobs</strong>: {disabled}
        </p>
      )}
      <Facts
        of={{
          'Last resync': <LastSync {...repository} />,
          'Discovery read it': lookedAt && <Ago at={lookedAt} />,
          'GitHub does not answer since': unansweredSince && <Ago at={unansweredSince} />,
          'Last job, run or push': activeAt && <Ago at={activeAt} />,
          Jobs: <Link to={at`/jobs?repository=${fullName}`}>its jobs</Link>,
          Operations: <Link to={ofIt}>its operations</Link>,
          Entity: <Thing kind="entity" id={entity.id} as={entity.login ?? entity.id} />,
          Id: id,
        }}
      />
      <Table
        caption="Newest operations"
        isPart
        columns={OPERATIONS}
        rows={operations.answer?.items ?? []}
        none="Nothing was asked for it lately."
      />
      <Table
        caption="Newest deliveries"
        isPart
        columns={DELIVERIES}
        rows={deliveries}
        none="None of the newest deliveries of its owner is about it."
      />
    </>
  );
}
