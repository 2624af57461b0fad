import { useEffect, useState } from 'preact/hooks';
import type { AnswerOf, Item } from '../answers.ts';
import { Act, Outcome } from '../parts/act.tsx';
import { Ago, At, Chip, Link, Listed, Thing, Took } from '../parts/inline.tsx';
import { DATES, ListView, Tabs } from '../parts/list.tsx';
import { howFailed, mergedInto } from '../parts/outcome.ts';
import { type Column, column, Facts, figure, Table, wide } from '../parts/table.tsx';
import { Answer, View } from '../parts/view.tsx';
import { at, type ViewProps } from '../paths.ts';
import { request } from '../state/request.ts';
import { useAnswer } from '../state/use-answer.ts';
import { count } from '../text/words.ts';
import { type KindCount, readFilter, subjectOf, sumByKind } from './operations.ts';

const FILTERS = [
  { name: 'status', label: 'Status', of: ['RUNNING', 'QUEUED', 'OK', 'ERROR'] },
  { name: 'kind', label: 'Kind' },
  { name: 'subject', label: 'Of', hint: 'worker:NAME' },
  { name: 'reason', label: 'Failed', of: ['poison', 'attempts', 'crashes', 'timeout'] },
  { name: 'handled', label: 'Dealt with', of: ['false', 'true'] },
  ...DATES,
];

const FAILED = '/operations?status=ERROR';
const OPEN = `${FAILED}&handled=false`;
const TABS = { '/operations': 'All', [OPEN]: 'Failed, to deal with', [FAILED]: 'All that failed' };

/** Operations: those that run, then those that wait, then those that ended; or those that failed. */
export function Operations({ query }: ViewProps) {
  const subject = query.get('subject');
  const about = subject === null ? undefined : readFilter(subject);
  const isFailed = query.get('status') === 'ERROR';
  const title = isFailed ? 'Failed operations' : 'Operations';

  return (
    <>
      <ListView<Item<'listOperations'>>
        title={about === undefined ? title : `${title} of the ${about.said}`}
        path="/operations"
        query={query}
        filters={FILTERS}
        columns={COLUMNS}
        keyOf={({ id: of }) => of}
        none={isFailed ? 'None has failed.' : 'There is none of these.'}
        tables={['tasks', 'operations']}
      >
        <Tabs
          name="Which of them"
          of={TABS}
          here={!isFailed ? '/operations' : query.get('handled') === 'false' ? OPEN : FAILED}
        />
        {about?.thing && <Thing {...about.thing} as={`The ${about.thing.kind}`} />}
        {isFailed && <AllFailed query={query} />}
      </ListView>
      {about === undefined && <Counts />}
    </>
  );
}

export const COLUMNS: readonly Column<Item<'listOperations'>>[] = [
  column('Operation', ({ id, kind }) => <Thing kind="operation" id={id} as={kind} />),
  column('Status', ({ status, handled: by }) => (
    <>
      <Chip of={status} />
      {by !== null && (
        <span class="quiet">
          {' '}
          {by.retriedAs === null ? 'discarded' : 'retried'} by {by.by}
        </span>
      )}
    </>
  )),
  wide('Of', ({ subject }) => <Subject of={subject} />),
  wide('Why', ({ waitsFor, failure }) =>
    waitsFor === null ? (failure?.message ?? '') : `waits for ${waitsFor}`,
  ),
  column('Asked by', ({ requestedBy }) => requestedBy ?? ''),
  figure('Runs', runsOf),
  figure(
    'Took',
    ({ startedAt, finishedAt, status }) =>
      startedAt && status !== 'QUEUED' && <Took from={startedAt} to={finishedAt} />,
  ),
  figure('When', ({ finishedAt, queuedAt }) => <Ago at={finishedAt ?? queuedAt} />),
];

/** As `1 of 5`, and how often the process that ran it went away. */
function runsOf({ attempt, maxAttempts, crashes }: Item<'listOperations'>): string {
  return `${attempt} of ${maxAttempts}${crashes === 0 ? '' : `, ${crashes} broken off`}`;
}

/** What an operation is about; it leads to its page, or to its other operations. */
function Subject({ of }: { of: Item<'listOperations'>['subject'] }) {
  const { said, filter, thing } = subjectOf(of);
  return thing === undefined ? (
    <Link to={at`/operations?subject=${filter}`}>{said}</Link>
  ) : (
    <Thing {...thing} as={said} />
  );
}

/** Deals with all failed operations that fit the filters, also those on other pages. */
function AllFailed({ query }: { query: URLSearchParams }) {
  const filters = [...query].filter(([name]) =>
    ['subject', 'kind', 'reason', 'from', 'to'].includes(name),
  );
  const body = Object.fromEntries(filters);
  return (
    <>
      {(['retry', 'discard'] as const).map((how) => (
        <Act
          key={how}
          label={how === 'retry' ? 'Retry all that fit …' : 'Discard all that fit …'}
          method="POST"
          path={`/failed-operations/${how}`}
          body={body}
          shown={handled}
          isGrave={how === 'discard'}
        >
          {how === 'retry'
            ? 'Repeats, each as a new operation with all attempts,'
            : 'Marks as dealt with'}{' '}
          <HowMany to={how} of={body} />.
        </Act>
      ))}
    </>
  );
}

const handled = ({ operations, paused, more }: AnswerOf<'handleFailedOperations'>) => (
  <p>
    Done for {count(operations, 'operation')}
    {paused > 0 && `; ${paused} left, because their sweep is paused`}
    {more && '; there are more: ask again'}.
  </p>
);

function HowMany({ to, of }: { to: 'retry' | 'discard'; of: Readonly<Record<string, string>> }) {
  const [said, say] = useState('…');
  useEffect(() => {
    const body = { ...of, dryRun: true };
    void request<AnswerOf<'handleFailedOperations'>>(`/api/v1/failed-operations/${to}`, {
      method: 'POST',
      body,
    }).then((told) =>
      say('trouble' in told ? told.trouble.detail : count(told.answer.operations, 'operation')),
    );
  }, [to, of]);
  return <b>{said}</b>;
}

function Counts() {
  const path = '/operations/counts?from=-24h&step=hour';
  const shown = useAnswer<AnswerOf<'countOperations'>>(path, ['operations']);
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
  column('Kind', ({ kind }) => <Link to={at`/operations?kind=${kind}`}>{kind}</Link>),
  figure('OK', ({ kind, good }) => (
    <Listed many={good} to={at`/operations?status=OK&from=-24h&kind=${kind}`} />
  )),
  figure('Failed', ({ kind, bad }) => (
    <Listed many={bad} to={at`/operations?status=ERROR&from=-24h&kind=${kind}`} />
  )),
  wide('Why they failed', ({ reasons }) => reasons.join(', ')),
];

export const Operation = ({ fields: { operation: id = '' } }: ViewProps) => (
  <View<AnswerOf<'findOperation'>>
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
              Marks it as dealt with.
            </Act>
          </>
        )}
      </>
    )}
  >
    {(operation) => <Row {...operation} />}
  </View>
);

function Row({ subject, failure, output, handled: by, ...operation }: AnswerOf<'findOperation'>) {
  const { startedAt, finishedAt, nextRunAt, status } = operation;
  const { filter } = subjectOf(subject);
  const merged = mergedInto({ output });
  return (
    <>
      <Outcome of={{ ...operation, failure, output }} />
      <Facts
        of={{
          Of: <Subject of={subject} />,
          'With the same': <Link to={at`/operations?subject=${filter}`}>all its operations</Link>,
          'Asked by': operation.requestedBy ?? (operation.origin === 'MANUAL' ? null : 'Paddock'),
          Runs: runsOf({ ...operation, subject, failure, handled: by }),
          Queued: <At at={operation.queuedAt} />,
          Started: startedAt && <At at={startedAt} />,
          Ended: finishedAt && <At at={finishedAt} />,
          Took: startedAt && status !== 'QUEUED' && <Took from={startedAt} to={finishedAt} />,
          'Next run': nextRunAt && <Ago at={nextRunAt} />,
          'Became part of': merged && <Thing kind="operation" id={merged} as="another" />,
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

const FAILURES: readonly Column<AnswerOf<'findOperation'>['failures'][number]>[] = [
  figure('Run', ({ attempt }) => attempt),
  column('Why', ({ reason }) => howFailed(reason)),
  wide('Message', ({ message }) => message),
  figure('When', (run) => <Ago at={run.at} />),
];

const ASKERS: readonly Column<AnswerOf<'findOperation'>['askers'][number]>[] = [
  column('Who', ({ person }) => person),
  wide('Note', ({ note }) => note ?? ''),
  figure('When', (asker) => <Ago at={asker.at} />),
];
