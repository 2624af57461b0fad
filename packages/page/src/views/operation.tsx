import type { Operation as OperationAnswer } from '../answers.ts';
import { Answer } from '../parts/answer.tsx';
import { Facts } from '../parts/facts.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { Ago, At, Took } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { OperationState } from './operations.tsx';
import type { ViewProps } from './view.ts';

/** One operation, from its enqueuing until it expires. */
export function Operation({ fields: { operation: id = '' } }: ViewProps) {
  const shown = useAnswer<OperationAnswer>(`/operations/${encodeURIComponent(id)}`, [
    'tasks',
    'operations',
  ]);
  const { answer } = shown;
  return (
    <>
      <Heading title={answer === undefined ? 'Operation' : answer.kind}>
        {answer && <OperationState status={answer.status} />}
      </Heading>
      <Answer of={shown}>{(operation) => <Row operation={operation} />}</Answer>
    </>
  );
}

function Row({ operation }: { operation: OperationAnswer }) {
  const { subject, failure, output, startedAt, finishedAt, nextRunAt } = operation;
  const of = `${subject.type}:${subject.id}`;
  return (
    <>
      {failure !== null && (
        <p class="trouble">
          <strong>{failure.reason.replaceAll('_', ' ')}</strong>: {failure.message}
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
          Id: <span class="mono">{operation.id}</span>,
        }}
      />
      {output !== null && (
        <>
          <h2>What it did</h2>
          <pre>{JSON.stringify(output, null, 2)}</pre>
        </>
      )}
    </>
  );
}
