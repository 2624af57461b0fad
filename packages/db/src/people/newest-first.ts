import { type RawBuilder, sql } from 'kysely';

/** A place in a list: the row's `CREATED_AT`, and its id. */
export type Position<Id> = readonly [at: string, id: Id];

/** ISO 8601 with microseconds, which a Date lacks: a page would repeat or skip rows. */
export const exactText = (instant: RawBuilder<unknown>): RawBuilder<string> =>
  sql`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

export const CREATED_AT = exactText(sql`created_at`);

/** In characters. Lists have the beginning of a sentence, which may have come from anywhere. */
export const LONGEST_FAILURE = 300;

/** The rows of a page, newest first. */
export interface PageOfTime<Id> {
  readonly limit: number;
  readonly after?: Position<Id> | undefined;
  /** Only rows that were created from here on. */
  readonly from?: Date | undefined;
  /** Only rows that were created before. */
  readonly to?: Date | undefined;
}

/** A list's table: its name, and the column of its ids with its type. */
export interface ListedTable {
  readonly table: RawBuilder<unknown>;
  readonly id: RawBuilder<unknown>;
  readonly idType: RawBuilder<unknown>;
}

/** A column or an expression that an index has before the time, and what it must equal. */
export interface Key {
  readonly of: RawBuilder<unknown>;
  /** Undefined: every value belongs to the list. */
  readonly is: RawBuilder<unknown> | undefined;
}

/** The ids of a page among the rows for which `condition` holds. */
export const newestRows = <Id>(
  listed: ListedTable,
  condition: RawBuilder<unknown>,
  page: PageOfTime<Id>,
): RawBuilder<unknown> => sql`
  select ${listed.id}, created_at from ${listed.table}
  where ${condition} and ${isOnPage(listed, page)} ${order(listed, page)}`;

/**
 * The ids of a page, by an index of the columns `keys`, `created_at desc` and the id: with one
 * descent for each combination of values behind the first key that is open. So the columns behind
 * it need few values each. `condition` is that of the index.
 */
export function newestRowsByKeys<Id>(
  listed: ListedTable,
  condition: RawBuilder<unknown>,
  keys: readonly Key[],
  page: PageOfTime<Id>,
): RawBuilder<unknown> {
  const firstOpen = keys.findIndex(({ is }) => is === undefined);
  const fixed = firstOpen < 0 ? keys : keys.slice(0, firstOpen);
  const fits = sql.join([condition, ...fixed.map(({ of, is }) => sql`${of} = ${is}`)], sql` and `);
  if (firstOpen < 0) return newestRows(listed, fits, page);
  const walked = keys.slice(firstOpen).map(({ of, is }, n) => {
    const name = sql.ref(`k${n}`);
    return { of, is, name, partName: sql`part.${name}` };
  });
  const columns = sql.join(walked.map(({ of, name }) => sql`${of} as ${name}`));
  const sorted = sql.join(walked.map(({ of }) => of));
  const isPart = sql.join(
    walked.map(({ of, partName }) => sql`${of} = ${partName}`),
    sql` and `,
  );
  const isMeant = sql.join(
    [
      sql`true`,
      ...walked.flatMap(({ is, partName }) => (is === undefined ? [] : [sql`${partName} = ${is}`])),
    ],
    sql` and `,
  );
  return sql`
  (with recursive part as (
    (select ${columns} from ${listed.table} where ${fits} order by ${sorted} limit 1)
    union all
    select following.* from part cross join lateral (
      select ${columns} from ${listed.table}
      where ${fits} and (${sorted}) > (${sql.join(walked.map(({ partName }) => partName))})
      order by ${sorted} limit 1) following)
  select newest.* from part cross join lateral (${newestRows(listed, sql`${fits} and ${isPart}`, page)}) newest
  where ${isMeant} ${order(listed, page)})`;
}

/** The ids of a page of several lists. */
export const newestOf = (
  listed: ListedTable,
  lists: readonly RawBuilder<unknown>[],
  page: PageOfTime<unknown>,
): RawBuilder<unknown> => sql`
  select * from (${sql.join(
    lists.map((list) => sql`select * from (${list}) list`),
    sql` union all `,
  )}) lists
  ${order(listed, page)}`;

const order = ({ id }: ListedTable, { limit }: PageOfTime<unknown>): RawBuilder<unknown> =>
  sql`order by created_at desc, ${id} desc limit ${limit}`;

/** Of the rows at the instants `at`, those from which the page has the newest. */
export function isOnPage<Id>(
  { id, idType }: Pick<ListedTable, 'id' | 'idType'>,
  { after, from, to }: PageOfTime<Id>,
  at = sql`created_at`,
): RawBuilder<boolean> {
  const bounds = [
    sql`true`,
    ...(from === undefined ? [] : [sql`${at} >= ${from}`]),
    ...(to === undefined ? [] : [sql`${at} < ${to}`]),
    ...(after === undefined
      ? []
      : [sql`(${at}, ${id}) < (${after[0]}::timestamptz, ${after[1]}::${idType})`]),
  ];
  return sql<boolean>`${sql.join(bounds, sql` and `)}`;
}
