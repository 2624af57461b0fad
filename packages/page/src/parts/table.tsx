import type { ComponentChildren } from 'preact';

export interface Column<T> {
  readonly name: string;
  readonly of: (row: T) => ComponentChildren;
  /** Numbers stand one below the other. */
  readonly isNumber?: boolean;
  /** Takes what the others leave, and ends in dots where that is too little. */
  readonly isWide?: boolean;
}

/** Rows that a person chooses to act on all of them. */
interface Choice<T> {
  readonly keys: ReadonlySet<string | number>;
  readonly nameOf: (row: T) => string;
  readonly set: (keys: ReadonlySet<string | number>) => void;
}

interface TableProps<T> {
  /** What the rows are, for those who do not see the table. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string | number;
  /** What to say without rows. */
  readonly none: ComponentChildren;
  readonly choice?: Choice<T>;
}

/** A table; on a phone each row is a card, and each value has its name beside it. */
export function Table<T>({ caption, columns, rows, keyOf, none, choice }: TableProps<T>) {
  if (rows.length === 0) return <p class="none">{none}</p>;
  const kind = ({ isNumber, isWide }: Column<T>) => (isNumber ? 'number' : isWide ? 'wide' : '');
  return (
    <div class="table">
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {choice && (
              <th class="choice">
                <ChooseAll choice={choice} keys={rows.map(keyOf)} />
              </th>
            )}
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
              {choice && (
                <td class="choice">
                  <Choose choice={choice} row={row} of={keyOf(row)} />
                </td>
              )}
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

function Choose<T>({ choice, row, of }: { choice: Choice<T>; row: T; of: string | number }) {
  const { keys, nameOf, set } = choice;
  return (
    <input
      type="checkbox"
      aria-label={`Choose ${nameOf(row)}`}
      checked={keys.has(of)}
      onChange={({ currentTarget: { checked } }) =>
        set(checked ? new Set([...keys, of]) : new Set([...keys].filter((key) => key !== of)))
      }
    />
  );
}

const ChooseAll = <T,>({
  choice: { keys, set },
  keys: all,
}: {
  choice: Choice<T>;
  keys: readonly (string | number)[];
}) => (
  <input
    type="checkbox"
    aria-label="Choose all rows of this page"
    checked={all.every((key) => keys.has(key))}
    onChange={({ currentTarget: { checked } }) => set(new Set(checked ? all : []))}
  />
);
