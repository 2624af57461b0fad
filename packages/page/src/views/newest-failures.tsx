import { type Failure, newestFailures } from '@paddock/domain/text/newest-failures';
import type { List, OperationRow, WorkerRow } from '../answers.ts';
import { Link } from '../parts/link.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Ago } from '../parts/time.tsx';
import { TroubleNote } from '../parts/answer.tsx';
import { useAnswer } from '../state/use-answer.ts';

/** As `paddock top` asks: the newest of the last day. */
const NEWEST = 'from=-24h&limit=10';

/** The tables of workers and operations change all the time, and seldom by a failure. */
const EVERY_MS = 10_000;

const SHOWN = 5;

/** What failed lately. Nothing at all where nothing did. */
export function NewestFailures() {
  const workers = useAnswer<List<WorkerRow>>(`/workers?state=failed&${NEWEST}`, [], EVERY_MS);
  const operations = useAnswer<List<OperationRow>>(`/failed-operations?${NEWEST}`, [], EVERY_MS);
  const trouble = workers.trouble ?? operations.trouble;
  // One of two answers alone would be replaced at once: the newest may be in the other.
  const isAnswered = workers.answer !== undefined && operations.answer !== undefined;
  const failures = newestFailures(workers.answer?.items ?? [], operations.answer?.items ?? []);
  return (
    <>
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      {failures.length > 0 && (isAnswered || trouble !== undefined) && (
        <section aria-label="What failed in the last day">
          <h2>Failed in the last day</h2>
          <Table
            caption="What failed in the last day, the newest first"
            columns={COLUMNS}
            rows={failures.slice(0, SHOWN)}
            keyOf={({ id }) => id}
            none=""
          />
          {failures.length > SHOWN && (
            <p class="key">
              <span>
                More: <Link to="/workers?state=failed&from=-24h">workers</Link>,{' '}
                <Link to="/operations?from=-24h">operations</Link>
              </span>
            </p>
          )}
        </section>
      )}
    </>
  );
}

const COLUMNS: readonly Column<Failure>[] = [
  {
    name: 'Failed',
    of: ({ what, id, name }) => (
      <>
        <span class="quiet">{what}</span>{' '}
        <Link to={`/${what}s/${encodeURIComponent(id)}`}>{name}</Link>
      </>
    ),
  },
  { name: 'Of', of: ({ of }) => of },
  { name: 'Because', isWide: true, of: ({ why }) => why ?? '' },
  { name: 'When', isNumber: true, of: ({ at }) => <Ago at={at} /> },
];
