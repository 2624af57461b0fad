import type { Operation as OperationAnswer } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Answer } from '../parts/answer.tsx';
import { Facts } from '../parts/facts.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Ago, At, Took } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { howFailed } from './operations.ts';
import { OperationState } from './operations.tsx';
import type { ViewProps } from './view.ts';

/** One operation, from its enqueuing until it expires. */
export function Operation({ fields: { operation: id = '' } }: ViewProps) {
  const path = `/operations/${encodeURIComponent(id)}`;
  const shown = useAnswer<OperationAnswer>(path, ['tasks', 'operations']);
  const { answer } = shown;
  return (
    <>
      <Heading title={answer === undefined ? 'Operation' : answer.kind}>
        {answer && <OperationState status={answer.status} />}
        {answer?.status === 'ERROR' && answer.handled === null && (
          <>
            <Act label="Retry …" method="POST" path={`${path}/retry`} again={shown.again}>
              Repeats it as a new operation, with all attempts.
            </Act>
            <Act
              label="Discard …"
              method="POST"
              path={`${path}/discard`}
              again={shown.again}
              isGrave
            >
              Takes it off the list of failed operations.
            </Act>
          </>
        )}
      </Heading>
      <Answer of={shown}>{(operation) => <Row operation={operation} />}</Answer>
    </>
  );
}

function Row({ operation }: { operation: OperationAnswer }) {
  const { subject, failure, output, startedAt, finishedAt, nextRunAt } = operation;
  const { handled, failures, askers } = operation;
  const of = `${subject.type}:${subject.id}`;
  return (
    <>
      {failure !== null && (
        <p class="trouble">
          <strong>{howFailed(failure.reason)}</strong>: {failure.message}
        </p>
      )}
      <Facts
        of={{
          Subject: (
            <Link to={`/operations?subject=${encodeURIComponent(of)}`}>
              {subject.type} {subject.name ?? subject.id}
            </Link>
          ),
          'Asked by': operation.requestedBy ?? (operation.origin === 'MANUAL' ? null : 'Paddock'),
          Runs: `${operation.attempt} of ${operation.maxAttempts}`,
          Queued: <At at={operation.queuedAt} />,
          Started: startedAt && <At at={startedAt} />,
          Ended: finishedAt && <At at={finishedAt} />,
          Took: startedAt && <Took from={startedAt} to={finishedAt} />,
          'Next run': nextRunAt && <Ago at={nextRunAt} />,
          'Retried as': handled?.retriedAs && (
            <Link to={`/operations/${handled.retriedAs}`}>{handled.retriedAs}</Link>
          ),
          [handled?.retriedAs === null ? 'Discarded by' : 'Retried by']: handled && (
            <>
              {handled.by}, <Ago at={handled.at} />
            </>
          ),
          Id: <span class="mono">{operation.id}</span>,
        }}
      />
      {failures.length > 0 && (
        <>
          <h2>Runs that did not end well</h2>
          <Table
            caption="Runs that did not end well"
            columns={FAILURES}
            rows={failures}
            keyOf={({ attempt, at }) => `${attempt} ${at}`}
            none=""
          />
        </>
      )}
      {askers.length > 0 && (
        <>
          <h2>Asked for by</h2>
          <Table
            caption="Who asked for it"
            columns={ASKERS}
            rows={askers}
            keyOf={({ person, at }) => `${person} ${at}`}
            none=""
          />
        </>
      )}
      {output !== null && (
        <>
          <h2>What it did</h2>
          <pre>{JSON.stringify(output, null, 2)}</pre>
        </>
      )}
    </>
  );
}

const FAILURES: readonly Column<OperationAnswer['failures'][number]>[] = [
  { name: 'Run', isNumber: true, of: ({ attempt }) => attempt },
  { name: 'Why', of: ({ reason }) => howFailed(reason) },
  { name: 'Message', isWide: true, of: ({ message }) => message },
  { name: 'When', isNumber: true, of: ({ at }) => <Ago at={at} /> },
];

const ASKERS: readonly Column<OperationAnswer['askers'][number]>[] = [
  { name: 'Who', of: ({ person }) => person },
  { name: 'Note', isWide: true, of: ({ note }) => note ?? '' },
  { name: 'When', isNumber: true, of: ({ at }) => <Ago at={at} /> },
];
