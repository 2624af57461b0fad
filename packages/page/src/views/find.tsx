import { useEffect } from 'preact/hooks';
import type { AnswerOf, Item } from '../answers.ts';
import { Link } from '../parts/inline.tsx';
import { column, type Column, Table, wide } from '../parts/table.tsx';
import { Answer, Heading } from '../parts/view.tsx';
import { placeOf, type ViewProps } from '../paths.ts';
import { go } from '../state/place.ts';
import { useAnswer } from '../state/use-answer.ts';

/** What an id or a name is of. The only one is shown at once. */
export function Find({ query }: ViewProps) {
  const shown = useAnswer<AnswerOf<'find'>>(`/find?${query.toString()}`, []);
  const [first, second] = shown.answer?.items ?? [];
  const only = first !== undefined && second === undefined ? placeOf(first) : undefined;
  useEffect(() => {
    // In place of this address, so that the way back leads past it.
    if (only !== undefined) go(only, 'replaceState');
  }, [only]);
  return (
    <>
      <Heading title={`Find ${query.get('text') ?? ''}`} />
      <Answer of={shown}>
        {({ items }) => (
          <Table
            caption="What has this id or name"
            columns={COLUMNS}
            rows={items}
            none={
              <>
                Nothing that Paddock has stored has this id or name. It finds the ids of jobs,
                installations, entities, operations, deliveries and events, the names of workers,
                pools, repositories and entities, and addresses of jobs and runs at GitHub.
              </>
            }
          />
        )}
      </Answer>
    </>
  );
}

const COLUMNS: readonly Column<Item<'find'>>[] = [
  column('What', ({ kind }) => kind),
  wide('Id', (found) => <Link to={placeOf(found)}>{found.id}</Link>),
  column('Name', ({ name }) => name ?? ''),
];
