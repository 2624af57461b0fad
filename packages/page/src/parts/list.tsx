import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { List } from '../answers.ts';
import type { Watched } from '../state/live.ts';
import { session } from '../state/session-signal.ts';
import { useAnswer } from '../state/use-answer.ts';
import { Answer } from './answer.tsx';
import { Bulk, type BulkAct } from './bulk.tsx';
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
  /** Actions on several rows, which people choose by `nameOf`. */
  readonly bulk?: readonly BulkAct<T>[];
  readonly nameOf?: (row: T) => string;
}

/** A view of a list: filters, a page of rows, and the way to the next one. */
export function ListView<T, A extends List<T> = List<T>>({
  path,
  query,
  columns,
  more,
  keyOf,
  bulk,
  nameOf,
  head,
  titleOf,
  ...props
}: ListProps<T, A>) {
  const asked = new URLSearchParams(query);
  asked.set('limit', '50');
  const address = `${props.api ?? path}?${asked.toString()}`;
  const shown = useAnswer<A>(address, props.tables);
  // Another list has other rows.
  const [chosen, choose] = useState({ address, keys: NONE });
  const keys = chosen.address === address ? chosen.keys : NONE;
  const choice =
    bulk === undefined || session.value?.access !== 'operate'
      ? undefined
      : {
          keys,
          nameOf: nameOf ?? ((row: T) => String(keyOf(row))),
          set: (of: ReadonlySet<string | number>) => choose({ address, keys: of }),
        };
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
              {...(choice && { choice })}
            />
            {bulk && choice && (
              <Bulk
                acts={bulk}
                rows={answer.items.filter((row) => keys.has(keyOf(row)))}
                again={shown.again}
                clear={() => choice.set(NONE)}
              />
            )}
            <Pager path={path} query={query} next={answer.next} />
          </>
        )}
      </Answer>
    </>
  );
}

const NONE: ReadonlySet<string | number> = new Set();
