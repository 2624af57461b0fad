import type { Diagnosis } from '../answers.ts';
import { Link } from '../parts/link.tsx';
import { Ago } from '../parts/time.tsx';
import { useAnswer } from '../state/use-answer.ts';
import { partsOf } from '../text/words.ts';

/** What is wrong with an entity or a repository, what decides most first. Nothing: no word of it. */
export function Diagnoses({ of }: { of: string }) {
  const { answer } = useAnswer<{ items: readonly Diagnosis[] }>(
    `/diagnoses?${new URLSearchParams({ of }).toString()}`,
    ['installations', 'installation_events', 'demand_keys'],
  );
  return (
    <>
      {answer?.items.map(({ name, sentence, since, actor, advice }) => (
        <p class={actor === 'wait' ? 'held' : 'trouble'} key={`${name} ${sentence}`}>
          <strong>{sentence}</strong>{' '}
          {partsOf(advice).map((part) =>
            typeof part === 'string' ? (
              part
            ) : (
              <Link key={part.job} to={`/jobs/${part.job}`}>
                job {part.job}
              </Link>
            ),
          )}{' '}
          {since !== null && (
            <span class="quiet">
              (<Ago at={since} />)
            </span>
          )}
        </p>
      ))}
    </>
  );
}
