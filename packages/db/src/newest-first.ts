import { type RawBuilder, sql } from 'kysely';
import { rowsOf } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** A place in a list: when the row was created, by `exactText`, and its id. */
export type Position<Id> = readonly [at: string, id: Id];

/** ISO 8601 with microseconds, which a Date lacks: a page would repeat or skip rows. */
export const exactText = (instant: RawBuilder<unknown>): RawBuilder<string> =>
  sql`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The same as JSON has a Date, for an instant within JSON that PostgreSQL makes. */
export const isoText = (instant: string): RawBuilder<string> =>
  sql`to_char(${sql.ref(instant)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

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

/** A list's table with the column `created_at`, the column of its ids, and their type. */
export interface ListedTable {
  readonly table: RawBuilder<unknown>;
  readonly id: RawBuilder<unknown>;
  readonly idType: RawBuilder<unknown>;
}

/** What a list says of a row: columns from the tables that are joined by its id. */
export interface ListedColumns {
  readonly columns: RawBuilder<unknown>;
  readonly joined: RawBuilder<unknown>;
  /** Its id, as a position has it. */
  readonly positionId: RawBuilder<unknown>;
}

/** Reads the rows of a page, from the statement of its ids. */
export async function readListed<Row extends { readonly position: Position<unknown> }>(
  db: Db,
  { id, columns, joined, positionId }: ListedTable & ListedColumns,
  ids: RawBuilder<unknown>,
): Promise<Row[]> {
  return rowsOf<Row>(db)`
    select ${columns}, json_build_array(${exactText(sql`page.created_at`)}, ${positionId}) as position
    from (${ids}) page join ${joined} order by page.created_at desc, page.${id} desc`;
}

/** The ids of a page among the rows for which `condition` holds. */
export const newestRows = <Id>(
  listed: ListedTable,
  condition: RawBuilder<unknown>,
  page: PageOfTime<Id>,
): RawBuilder<unknown> => sql`
  select ${listed.id}, created_at from ${listed.table}
  where ${condition} and ${isOnPage(listed, page)} ${order(listed, page)}`;

/** The same if few rows fit: PostgreSQL might look for them among all, by their time. */
export const newestOfFew = <Id>(
  listed: ListedTable,
  condition: RawBuilder<unknown>,
  page: PageOfTime<Id>,
): RawBuilder<unknown> => sql`
  with few as materialized (select ${listed.id}, created_at from ${listed.table} where ${condition})
  ${newestRows({ ...listed, table: sql`few` }, sql`true`, page)}`;

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
export const isOnPage = <Id>(
  { id, idType }: Pick<ListedTable, 'id' | 'idType'>,
  { after, from, to }: PageOfTime<Id>,
  at = sql`created_at`,
): RawBuilder<boolean> =>
  allOf(
    from && sql`${at} >= ${from}`,
    to && sql`${at} < ${to}`,
    after && sql`(${at}, ${id}) < (${after[0]}::timestamptz, ${after[1]}::${idType})`,
  );

/** SQL: all of these conditions that are there. */
export const allOf = (
  ...conditions: readonly (RawBuilder<unknown> | undefined)[]
): RawBuilder<boolean> =>
  sql.join([sql`true`, ...conditions.filter((condition) => condition !== undefined)], sql` and `);

/** SQL: the column has this value. Undefined: any. */
export const has = (
  column: string,
  value: number | string | undefined,
): RawBuilder<unknown> | undefined =>
  value === undefined ? undefined : sql`${sql.ref(column)} = ${value}`;

/** The same of foreign text, which indexes have hashed to 64 bits. */
export const hasText = (
  column: string,
  text: string | undefined,
): RawBuilder<unknown> | undefined =>
  text === undefined
    ? undefined
    : sql`hashtextextended(coalesce(${sql.ref(column)}, ''), 0) = hashtextextended(${text}, 0)`;
