import type { ComponentChildren } from 'preact';
import type { List } from '../answers.ts';
import type { Watched } from '../state/live.ts';
import { go } from '../state/place.ts';
import { useAnswer } from '../state/use-answer.ts';
import { type Field, Input, readForm } from './form.tsx';
import { Link } from './inline.tsx';
import { column, type Column, Table } from './table.tsx';
import { Answer, Heading } from './view.tsx';

/** From when to when a list goes. */
export const DATES: readonly Field[] = [
  { name: 'from', label: 'From', hint: '-7d, a date' },
  { name: 'to', label: 'To', hint: '-24h, a date' },
];

interface ListProps<T, A extends List<T>> {
  readonly title: string;
  /** A better one, once there is an answer. */
  readonly titleOf?: (answer: A) => string | undefined;
  /** Of the page and, unless `api` says otherwise, of the API. */
  readonly path: string;
  readonly api?: string;
  readonly query: URLSearchParams;
  readonly filters?: readonly Field[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string | number;
  readonly none: ComponentChildren;
  /** Tables by whose changes the list grows old. */
  readonly tables: readonly Watched[];
  readonly children?: ComponentChildren;
  readonly head?: (answer: A) => ComponentChildren;
  readonly foot?: (answer: A) => ComponentChildren;
  /** By what the API has sorted: the columns that can be are links. */
  readonly sorted?: string;
  /** What may be done to a row: `again` asks for the list once more. */
  readonly act?: (row: T, again: () => void) => ComponentChildren;
}

/** A view of a list: filters, a page of rows, and the way to the next one. */
export function ListView<T, A extends List<T> = List<T>>(props: ListProps<T, A>) {
  const { title, titleOf, path, api = path, query, filters, columns, act, head } = props;
  const asked = new URLSearchParams(query);
  asked.set('limit', '50');
  const shown = useAnswer<A>(`${api}?${asked.toString()}`, props.tables);
  const acts = act && [column('Act', (row: T) => act(row, shown.again))];
  return (
    <>
      <Heading title={(shown.answer && titleOf?.(shown.answer)) ?? title}>{props.children}</Heading>
      {filters && <Filters path={path} query={query} filters={filters} />}
      <Answer of={shown}>
        {(answer) => (
          <>
            {head?.(answer)}
            <Table
              caption={title}
              columns={[...columns, ...(acts ?? [])]}
              rows={answer.items}
              keyOf={props.keyOf}
              none={props.none}
              {...(props.sorted !== undefined && {
                sorted: { by: props.sorted, to: (sort) => withQuery(path, query, { sort }) },
              })}
            />
            <Pager path={path} query={query} next={answer.next} />
            {props.foot?.(answer)}
          </>
        )}
      </Answer>
    </>
  );
}

/** A path with other values in its query, from the first page on. */
function withQuery(
  path: string,
  query: URLSearchParams,
  values: Readonly<Record<string, string>>,
): string {
  const chosen = new URLSearchParams(query);
  chosen.delete('after');
  for (const [name, value] of Object.entries(values)) chosen.set(name, value);
  return chosen.size === 0 ? path : `${path}?${chosen.toString()}`;
}

export const Tabs = ({
  name,
  of,
  here,
}: {
  name: string;
  of: Readonly<Record<string, string>>;
  here: string;
}) => (
  <nav class="tabs" aria-label={name}>
    {Object.entries(of).map(([to, view]) => (
      <Link key={to} to={to} {...(to === here && { 'aria-current': 'page' })}>
        {view}
      </Link>
    ))}
  </nav>
);

interface OfAddress {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Filters of a list. They stand in the address, so that they can be kept and sent. */
function Filters({ path, query, filters }: OfAddress & { readonly filters: readonly Field[] }) {
  const apply = (event: Event) => {
    const kept = query.get('sort');
    go(withQuery(path, new URLSearchParams(readForm(event)), kept === null ? {} : { sort: kept }));
  };
  // A list that somebody leaves for another begins with the values of its address.
  return (
    <search>
      <form class="filters" onSubmit={apply} key={query.toString()}>
        {filters.map((field) => (
          <Input
            key={field.name}
            field={field}
            value={query.get(field.name)}
            onChoice={(form) => form?.requestSubmit()}
          />
        ))}
        <button type="submit">Show</button>
      </form>
    </search>
  );
}

/** To the next page of a list, and back to its first one. */
function Pager({ path, query, next }: OfAddress & { readonly next: string | null }) {
  if (next === null && !query.has('after')) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {query.has('after') && <Link to={withQuery(path, query, {})}>First page</Link>}
      {next !== null && <Link to={withQuery(path, query, { after: next })}>Next page</Link>}
    </nav>
  );
}
