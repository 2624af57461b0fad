import type { ComponentChildren } from 'preact';

export interface Column<T> {
  readonly name: string;
  readonly of: (row: T) => ComponentChildren;
  /** Numbers stand one below the other. */
  readonly isNumber?: boolean;
  /** Takes what the others leave, and ends in dots where that is too little. */
  readonly isWide?: boolean;
}

interface TableProps<T> {
  /** What the rows are, for those who do not see the table. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string | number;
  /** What to say without rows. */
  readonly none: ComponentChildren;
}

/** A table; on a phone each row is a card, and each value has its name beside it. */
export function Table<T>({ caption, columns, rows, keyOf, none }: TableProps<T>) {
  if (rows.length === 0) return <p class="none">{none}</p>;
  const kind = ({ isNumber, isWide }: Column<T>) => (isNumber ? 'number' : isWide ? 'wide' : '');
  return (
    <div class="table">
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={kind(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.name} data-name={column.name} class={kind(column)}>
                  {column.isWide ? <div>{column.of(row)}</div> : column.of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
