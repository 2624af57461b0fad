import { useEffect, useState } from 'preact/hooks';
import type {
  HandledFailed,
  Items,
  Operation as OperationAnswer,
  OperationCount,
  OperationRow,
} from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Ago, At, Chip, Link, Thing, Took } from '../parts/inline.tsx';
import { DATES, ListView } from '../parts/list.tsx';
import { type Column, Facts, Table } from '../parts/table.tsx';
import { Answer, View } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';
import { request } from '../state/request.ts';
import { useAnswer } from '../state/use-answer.ts';
import { count, number } from '../text/words.ts';
import { howFailed, type KindCount, sumByKind } from './operations.ts';

/** The operations of a subject; without one those that failed, and how many ended. */
export function Operations({ query }: ViewProps) {
  const subject = query.get('subject');
  return (
    <>
      <ListView<OperationRow>
        title={subject === null ? 'Failed operations' : `Operations of ${subject}`}
        path="/operations"
        api={subject === null ? '/failed-operations' : '/operations'}
        query={query}
        filters={[
          { name: 'subject', label: 'Subject', hint: 'worker:NAME, repository:a/b' },
          ...(subject === null ? [{ name: 'kind', label: 'Kind' }, ...DATES] : []),
        ]}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        none={subject === null ? 'None has failed.' : 'There is none of it.'}
        tables={['tasks', 'operations']}
      >
        {subject === null && <AllFailed query={query} />}
      </ListView>
      {subject === null && <Counts />}
    </>
  );
}

const COLUMNS: readonly Column<OperationRow>[] = [
  { name: 'Operation', of: ({ id, kind }) => <Thing kind="operation" id={id} as={kind} /> },
  { name: 'Status', of: ({ status }) => <Chip of={status} /> },
  {
    name: 'Subject',
    isWide: true,
    of: ({ subject }) => `${subject.type} ${subject.name ?? subject.id}`,
  },
  { name: 'Why', isWide: true, of: ({ failure }) => failure?.message ?? '' },
  { name: 'Asked by', of: ({ requestedBy }) => requestedBy ?? '' },
  { name: 'Runs', isNumber: true, of: ({ attempt, maxAttempts }) => `${attempt} / ${maxAttempts}` },
  {
    name: 'Took',
    isNumber: true,
    of: ({ startedAt, finishedAt }) => startedAt && <Took from={startedAt} to={finishedAt} />,
  },
  {
    name: 'When',
    isNumber: true,
    of: ({ finishedAt, queuedAt }) => <Ago at={finishedAt ?? queuedAt} />,
  },
];

/** Deals with all failed operations that fit the filters, also those on other pages. */
function AllFailed({ query }: { query: URLSearchParams }) {
  const filters = [...query].filter(([name]) => ['kind', 'from', 'to'].includes(name));
  const body = Object.fromEntries(filters);
  return (
    <>
      <Act
        label="Retry all that fit …"
        method="POST"
        path="/failed-operations/retry"
        body={body}
        shown={handled}
      >
        Repeats, each as a new operation with all attempts, <HowMany to="retry" of={body} />.
      </Act>
      <Act
        label="Discard all that fit …"
        method="POST"
        path="/failed-operations/discard"
        body={body}
        shown={handled}
        isGrave
      >
        Takes off the list <HowMany to="discard" of={body} />.
      </Act>
    </>
  );
}

const handled = ({ operations, more }: HandledFailed) => (
  <p>
    Done for {count(operations, 'operation')}
    {more && '; there are more: ask again'}.
  </p>
);

/** How many would be dealt with now. */
function HowMany({ to, of }: { to: 'retry' | 'discard'; of: Readonly<Record<string, string>> }) {
  const [said, say] = useState('…');
  useEffect(() => {
    const body = { ...of, dryRun: true };
    void request<HandledFailed>(`/api/v1/failed-operations/${to}`, { method: 'POST', body }).then(
      (told) =>
        say('trouble' in told ? told.trouble.detail : count(told.answer.operations, 'operation')),
    );
  }, [to, of]);
  return <b>{said}</b>;
}

function Counts() {
  const path = '/operations/counts?from=-24h&step=hour';
  const shown = useAnswer<Items<OperationCount>>(path, ['operations']);
  return (
    <Answer of={shown}>
      {({ items }) => (
        <Table
          caption="Ended in the last 24 hours"
          isPart
          columns={OF_KIND}
          rows={sumByKind(items)}
          none="None has ended."
        />
      )}
    </Answer>
  );
}

const OF_KIND: readonly Column<KindCount>[] = [
  { name: 'Kind', of: ({ kind }) => kind },
  { name: 'OK', isNumber: true, of: ({ good }) => number(good) },
  {
    name: 'Failed',
    isNumber: true,
    of: ({ kind, bad }) =>
      bad === 0 ? (
        <span class="quiet">0</span>
      ) : (
        <Link to={at`/operations?kind=${kind}`}>{number(bad)}</Link>
      ),
  },
  { name: 'Why they failed', isWide: true, of: ({ reasons }) => reasons.join(', ') },
];

/** One operation, from its enqueuing until it expires. */
export const Operation = ({ fields: { operation: id = '' } }: ViewProps) => (
  <View<OperationAnswer>
    path={at`/operations/${id}`}
    tables={['tasks', 'operations']}
    title="Operation"
    titleOf={({ kind }) => kind}
    beside={({ status, handled: by }, again) => (
      <>
        <Chip of={status} />
        {status === 'ERROR' && by === null && (
          <>
            <Act label="Retry …" method="POST" path={at`/operations/${id}/retry`} again={again}>
              Repeats it as a new operation, with all attempts.
            </Act>
            <Act
              label="Discard …"
              method="POST"
              path={at`/operations/${id}/discard`}
              again={again}
              isGrave
            >
              Takes it off the list of failed operations.
            </Act>
          </>
        )}
      </>
    )}
  >
    {(operation) => <Row {...operation} />}
  </View>
);

function Row({ subject, failure, output, handled: by, ...operation }: OperationAnswer) {
  const { startedAt, finishedAt, nextRunAt } = operation;
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
            <Link to={at`/operations?subject=${`${subject.type}:${subject.id}`}`}>
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
          'Retried as': by?.retriedAs && <Thing kind="operation" id={by.retriedAs} />,
          [by?.retriedAs === null ? 'Discarded by' : 'Retried by']: by && (
            <>
              {by.by}, <Ago at={by.at} />
            </>
          ),
          Id: <span class="mono">{operation.id}</span>,
        }}
      />
      <Table
        caption="Runs that did not end well"
        isPart
        columns={FAILURES}
        rows={operation.failures}
      />
      <Table caption="Asked for by" isPart columns={ASKERS} rows={operation.askers} />
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
  { name: 'When', isNumber: true, of: (run) => <Ago at={run.at} /> },
];

const ASKERS: readonly Column<OperationAnswer['askers'][number]>[] = [
  { name: 'Who', of: ({ person }) => person },
  { name: 'Note', isWide: true, of: ({ note }) => note ?? '' },
  { name: 'When', isNumber: true, of: (asker) => <Ago at={asker.at} /> },
];
