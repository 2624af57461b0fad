import type { Waits as WaitsAnswer } from '../answers.ts';
import { Link } from '../parts/link.tsx';
import { TroubleNote } from '../parts/trouble.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { number, plain } from '../text/words.ts';
import { reasonPath, waitsPath } from './jobs.ts';

/** How many jobs wait for which reason; each leads to the list of these alone. */
export function Waits({ query }: { query: URLSearchParams }) {
  const { answer, trouble } = useAnswer<WaitsAnswer>(waitsPath(query), ['jobs', 'demand_keys']);
  const chosen = query.get('reason');
  const items = answer?.items ?? [];
  return (
    <>
      {trouble !== undefined && <TroubleNote trouble={trouble} />}
      {items.length > 0 && (
        <ul class="reasons" aria-label="Jobs that wait, by reason">
          {items.map(({ reason, jobs }) => {
            // As the filter names them.
            const of = reason ?? 'none';
            return (
              <li key={of}>
                <Link
                  to={reasonPath(query, of === chosen ? undefined : of)}
                  {...(of === chosen && { 'aria-current': 'page', title: 'All reasons' })}
                >
                  <b>{number(jobs)}</b>{' '}
                  {reason === null ? 'their workers are coming' : plain(reason)}
                </Link>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}
