import type { ComponentChildren } from 'preact';
import type { List } from '../answers.ts';
import type { Watched } from '../state/live.ts';
import { useAnswer } from '../state/use-answer.ts';
import { Answer } from './answer.tsx';
import { type Filter, Filters } from './filters.tsx';
import { Heading } from './heading.tsx';
import { Pager } from './pager.tsx';
import { type Column, Table } from './table.tsx';

interface ListProps<T, A extends List<T>> {
  readonly title: string;
  /** A better one, once there is an answer. */
  readonly titleOf?: (answer: A) => string | undefined;
  /** Of the page and, unless `api` says otherwise, of the API. */
  readonly path: string;
  readonly api?: string;
  readonly query: URLSearchParams;
  readonly filters?: readonly Filter[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string | number;
  readonly none: ComponentChildren;
  /** Tables by whose changes the list grows old. */
  readonly tables: readonly Watched[];
  /** Beside the title. */
  readonly children?: ComponentChildren;
  /** Above the rows. */
  readonly head?: (answer: A) => ComponentChildren;
  /** For actions of the rows: `again` asks for the list once more. */
  readonly more?: (again: () => void) => readonly Column<T>[];
}

/** A view of a list: filters, a page of rows, and the way to the next one. */
export function ListView<T, A extends List<T> = List<T>>({
  path,
  query,
  columns,
  more,
  keyOf,
  head,
  titleOf,
  ...props
}: ListProps<T, A>) {
  const asked = new URLSearchParams(query);
  asked.set('limit', '50');
  const address = `${props.api ?? path}?${asked.toString()}`;
  const shown = useAnswer<A>(address, props.tables);
  return (
    <>
      <Heading title={(shown.answer && titleOf?.(shown.answer)) ?? props.title}>
        {props.children}
      </Heading>
      {props.filters && <Filters path={path} query={query} filters={props.filters} />}
      <Answer of={shown}>
        {(answer) => (
          <>
            {head?.(answer)}
            <Table
              caption={props.title}
              columns={more === undefined ? columns : [...columns, ...more(shown.again)]}
              rows={answer.items}
              keyOf={keyOf}
              none={props.none}
            />
            <Pager path={path} query={query} next={answer.next} />
          </>
        )}
      </Answer>
    </>
  );
}
