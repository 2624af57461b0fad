import type { Delivery as DeliveryAnswer } from '../answers.ts';
import { Act } from '../parts/act.tsx';
import { Answer } from '../parts/answer.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Ago, At, Until } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { count, plain } from '../text/words.ts';
import { codeOf } from './redeliveries.tsx';
import type { ViewProps } from './view.ts';

/** One delivery: what became of it each time, and whether Paddock asks for it again. */
export function Delivery({ fields: { delivery: guid = '' } }: ViewProps) {
  const path = `/deliveries/${encodeURIComponent(guid)}`;
  const shown = useAnswer<DeliveryAnswer>(path, ['installation_events']);
  return (
    <>
      <Heading title={`Delivery ${guid}`}>
        <Act label="Redeliver …" method="POST" path={`${path}/redeliver`} again={shown.again}>
          Has GitHub repeat this delivery, which it can for three days.
        </Act>
      </Heading>
      <Answer of={shown}>
        {({ events, unresolved }) => (
          <>
            {unresolved.map((failed) => (
              <p class="trouble" key={failed.app}>
                <strong>It did not arrive</strong>: {codeOf(failed)}, to the App {failed.app}, last{' '}
                <Ago at={failed.lastFailedAt} />. Paddock has asked for it{' '}
                {failed.requests === 0 ? 'not yet' : count(failed.requests, 'time')}, and asks next{' '}
                <Until at={failed.nextRequestAt} />.
              </p>
            ))}
            <Table
              caption="Each time that it came"
              columns={COLUMNS}
              rows={events}
              keyOf={({ id }) => id}
              none="It has not come yet."
            />
          </>
        )}
      </Answer>
    </>
  );
}

const COLUMNS: readonly Column<DeliveryAnswer['events'][number]>[] = [
  { name: 'Received', of: ({ receivedAt }) => <At at={receivedAt} /> },
  { name: 'Event', of: ({ id, event }) => <Link to={`/trace/payload/${id}`}>{event}</Link> },
  { name: 'Outcome', of: ({ outcome }) => plain(outcome) },
  { name: 'Meaning', isWide: true, of: ({ meaning }) => meaning },
  { name: 'Job', of: ({ job }) => (job === null ? '' : <Link to={`/jobs/${job}`}>{job}</Link>) },
  {
    name: 'Installation',
    isNumber: true,
    of: ({ installation }) =>
      installation === null ? (
        ''
      ) : (
        <Link to={`/installations/${installation}`}>{installation}</Link>
      ),
  },
];
