import type { EventPayload } from '../answers.ts';
import { Answer } from '../parts/answer.tsx';
import { Facts } from '../parts/facts.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { At } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { number, plain } from '../text/words.ts';
import type { ViewProps } from './view.ts';

/** One event of a trace, with what is stored of its payload. */
export function Event({ fields: { event: id = '' } }: ViewProps) {
  const shown = useAnswer<EventPayload>(`/trace/payload/${encodeURIComponent(id)}`, []);
  return (
    <>
      <Heading title={shown.answer?.event.event ?? `Event ${id}`} />
      <Answer of={shown}>
        {({ event, size, payload }) => (
          <>
            <Facts
              of={{
                Outcome: plain(event.outcome),
                Heard: event.source === 'webhook' ? 'as a delivery' : `by the ${event.source}`,
                Received: <At at={event.receivedAt} />,
                Delivery: event.guid && (
                  <Link to={`/deliveries/${encodeURIComponent(event.guid)}`}>{event.guid}</Link>
                ),
                Job: event.job && <Link to={`/jobs/${event.job}`}>{event.job}</Link>,
                Repository: event.repository?.fullName ?? event.repository?.id,
                Installation: event.installation && (
                  <Link to={`/installations/${event.installation}`}>{event.installation}</Link>
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
      </Answer>
    </>
  );
}
