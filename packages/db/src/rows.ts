import { sql } from 'kysely';
import type { Db } from './schema/tables.ts';

/** Runs the raw statement that follows, and returns its rows. */
export const rowsOf =
  <Row>(db: Db) =>
  async (text: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row[]> =>
    (await sql<Row>(text, ...values).execute(db)).rows;

/** The same of a statement that has one row at most. */
export const rowOf =
  <Row>(db: Db) =>
  async (text: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row | undefined> =>
    (await rowsOf<Row>(db)(text, ...values))[0];

/** The same of a statement that always has one. */
export const onlyRowOf =
  <Row>(db: Db) =>
  async (text: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row> => {
    const row = await rowOf<Row>(db)(text, ...values);
    if (row === undefined) throw new Error('PostgreSQL answered without a row.');
    return row;
  };
