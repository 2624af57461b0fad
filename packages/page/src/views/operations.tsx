import type { OperationCount, OperationRow } from '../answers.ts';
import { Answer } from '../parts/answer.tsx';
import { Chip, type Tone } from '../parts/chip.tsx';
import { Link } from '../parts/link.tsx';
import { ListView } from '../parts/list.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Ago, Took } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { number } from '../text/words.ts';
import { AllFailed } from './all-failed.tsx';
import { type KindCount, sumByKind } from './operations.ts';
import type { ViewProps } from './view.ts';

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
          ...(subject === null ? OF_FAILED : []),
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

const OF_FAILED = [
  { name: 'kind', label: 'Kind' },
  { name: 'from', label: 'From', hint: '2026-01-31, -7d' },
  { name: 'to', label: 'To', hint: '2026-01-31, -24h' },
];

export const OperationState = ({ status }: Pick<OperationRow, 'status'>) => (
  <Chip tone={TONES[status]}>{status}</Chip>
);

const TONES: Readonly<Record<OperationRow['status'], Tone>> = {
  QUEUED: 'wait',
  RUNNING: 'busy',
  OK: 'good',
  ERROR: 'bad',
};

const COLUMNS: readonly Column<OperationRow>[] = [
  { name: 'Operation', of: ({ id, kind }) => <Link to={`/operations/${id}`}>{kind}</Link> },
  { name: 'Status', of: ({ status }) => <OperationState status={status} /> },
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
    of: ({ startedAt, finishedAt }) =>
      startedAt === null ? '' : <Took from={startedAt} to={finishedAt} />,
  },
  {
    name: 'When',
    isNumber: true,
    of: ({ finishedAt, queuedAt }) => <Ago at={finishedAt ?? queuedAt} />,
  },
];

function Counts() {
  const shown = useAnswer<{ items: readonly OperationCount[] }>(
    '/operations/counts?from=-24h&step=hour',
    ['operations'],
  );
  return (
    <>
      <h2>Ended in the last 24 hours</h2>
      <Answer of={shown}>
        {({ items }) => (
          <Table
            caption="Operations that ended in the last 24 hours, by kind"
            columns={OF_KIND}
            rows={sumByKind(items)}
            keyOf={({ kind }) => kind}
            none="None has ended."
          />
        )}
      </Answer>
    </>
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
        <Link to={`/operations?kind=${encodeURIComponent(kind)}`}>{number(bad)}</Link>
      ),
  },
  { name: 'Why they failed', isWide: true, of: ({ reasons }) => reasons.join(', ') },
];
