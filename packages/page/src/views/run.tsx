import type { List, Why as WhyAnswer } from '../answers.ts';
import { Answer } from '../parts/answer.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { useAnswer } from '../state/use-answer.ts';
import type { ViewProps } from './view.ts';
import { Why } from './why.tsx';

/** The jobs of a run that wait or run, each with its why. */
export function Run({ fields: { run = '' }, query }: ViewProps) {
  const shown = useAnswer<List<WhyAnswer>>(
    `/runs/${encodeURIComponent(run)}/why?${query.toString()}`,
    ['jobs', 'workers', 'demand_keys', 'outages'],
  );
  return (
    <>
      <Heading title={`Run ${run}`} />
      <Answer of={shown}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="none">None of its jobs waits or runs, or no pool serves them.</p>
          ) : (
            items.map((answer) => (
              <article key={answer.job.id}>
                <h2>
                  <Link to={`/jobs/${answer.job.id}`}>{answer.job.name}</Link>
                </h2>
                <Why answer={answer} />
              </article>
            ))
          )
        }
      </Answer>
    </>
  );
}
