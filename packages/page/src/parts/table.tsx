import { duration } from '@paddock/domain/text/duration';
import type { ComponentChildren } from 'preact';
import { Ago, At, Link } from './inline.tsx';

/** A column of a table: its name, and what it has of a row. */
export interface Column<T> {
  readonly name: string;
  readonly of: (row: T) => ComponentChildren;
  readonly kind?: 'number' | 'wide';
  readonly sort?: string | undefined;
}

export const column = <T,>(name: string, of: Column<T>['of']): Column<T> => ({ name, of });

/** Numbers stand one below the other. `sort`: as the API sorts by it, the most first. */
export const figure = <T,>(name: string, of: Column<T>['of'], sort?: string): Column<T> => ({
  name,
  of,
  kind: 'number',
  sort,
});

/** Takes what the others leave, and ends in dots where that is too little. */
export const wide = <T,>(name: string, of: Column<T>['of']): Column<T> => ({
  name,
  of,
  kind: 'wide',
});

interface TableProps<T> {
  /** What the rows are, for those who do not see the table. */
  readonly caption: string;
  /** The caption is a heading that everyone sees. */
  readonly isPart?: boolean;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  /** Without it, rows come and go at the end only. */
  readonly keyOf?: (row: T) => string | number;
  /** What to say without rows; without it, a table without rows is not there at all. */
  readonly none?: ComponentChildren;
  /** By what the rows are sorted, and where they are sorted by another column. */
  readonly sorted?: { readonly by: string; readonly to: (sort: string) => string };
}

/** A table; on a phone each row is a card, and each value has its name beside it. */
export function Table<T>(props: TableProps<T>) {
  const { caption, isPart = false, columns, rows, keyOf, none, sorted } = props;
  if (rows.length === 0 && none === undefined) return null;
  return (
    <>
      {isPart && <h2>{caption}</h2>}
      {rows.length === 0 ? (
        <p class="none">{none}</p>
      ) : (
        <div class="table">
          <table>
            <caption class="unseen">{caption}</caption>
            <thead>
              <tr>
                {columns.map(({ name, kind, sort }) => (
                  <th
                    key={name}
                    scope="col"
                    class={kind}
                    {...(sort === sorted?.by && sorted && { 'aria-sort': 'descending' })}
                  >
                    {sort === undefined || sorted === undefined ? (
                      name
                    ) : (
                      <Link to={sorted.to(sort)}>{name}</Link>
                    )}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr key={keyOf?.(row) ?? index}>
                  {columns.map(({ name, of, kind }) => (
                    <td key={name} data-name={name} class={kind}>
                      {kind === 'wide' ? <div>{of(row)}</div> : of(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

/** Names and values; a value that is null has no line. */
export const Facts = ({ of }: { of: Readonly<Record<string, ComponentChildren>> }) => (
  <dl class="facts">
    {Object.entries(of).map(
      ([name, value]) =>
        value !== null &&
        value !== undefined &&
        value !== '' && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);

/** The sums of a view, each with what it is of, and where that is listed. */
export const Headline = ({
  of,
}: {
  of: readonly (readonly [sum: ComponentChildren, what: string, to?: string])[];
}) => (
  <ul class="headline">
    {of.map(([sum, what, to]) => {
      const said = [<b key="sum">{sum}</b>, ` ${what}`];
      return <li key={what}>{to === undefined ? said : <Link to={to}>{said}</Link>}</li>;
    })}
  </ul>
);

interface Moment {
  readonly at: string;
  readonly what: string;
  /** How long it took. Without it: since the moment before. */
  readonly after?: ComponentChildren;
}

/** What happened when, the earliest first, and how long each step took. */
export const Timeline = ({ name, of }: { name: string; of: readonly Moment[] }) => (
  <>
    <h2>{name}</h2>
    <ol class="timeline">
      {of.map(({ at, what, after }, index) => {
        const before = of[index - 1];
        const taken =
          before && `+ ${duration(Math.max(0, Date.parse(at) - Date.parse(before.at)))}`;
        return (
          <li key={`${at} ${what}`}>
            <At at={at} />
            <span class="what">{what}</span>
            <span class="quiet">{after ?? taken ?? <Ago at={at} />}</span>
          </li>
        );
      })}
    </ol>
  </>
);
