import { useEffect } from 'preact/hooks';
import type { Found } from '../answers.ts';
import { Answer } from '../parts/answer.tsx';
import { Heading } from '../parts/heading.tsx';
import { Link } from '../parts/link.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { go } from '../state/place.ts';
import { useAnswer } from '../state/use-answer.ts';
import { placeOf } from './find.ts';
import type { ViewProps } from './view.ts';

/** What an id or a name is of. The only one is shown at once. */
export function Find({ query }: ViewProps) {
  const text = query.get('text') ?? '';
  const shown = useAnswer<{ items: readonly Found[] }>(`/find?${query.toString()}`, []);
  const [first, second] = shown.answer?.items ?? [];
  const only = first !== undefined && second === undefined ? placeOf(first) : undefined;
  useEffect(() => {
    // In place of this address, so that the way back leads past it.
    if (only !== undefined) go(only, 'replace');
  }, [only]);
  return (
    <>
      <Heading title={`Find ${text}`} />
      <Answer of={shown}>
        {({ items }) => (
          <Table
            caption="What has this id or name"
            columns={COLUMNS}
            rows={items}
            keyOf={({ kind, id }) => `${kind} ${id}`}
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

const COLUMNS: readonly Column<Found>[] = [
  { name: 'What', of: ({ kind }) => kind },
  { name: 'Id', isWide: true, of: (found) => <Link to={placeOf(found)}>{found.id}</Link> },
  { name: 'Name', of: ({ name }) => name ?? '' },
];
