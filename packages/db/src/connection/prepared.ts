import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type pg from 'pg';

const MARK = '/* prepared */';

/**
 * The first thing in the text of a statement that runs often and costs more to plan than to
 * execute: each connection parses it once and keeps its plan. Only for texts that never vary, since
 * a connection keeps what it has prepared until it closes, and for statements whose plan is right
 * whatever the parameters and however many rows the tables had when it was made.
 */
export const prepared = sql.raw(MARK);

/**
 * The same for a text that is put together once, so that nothing of it is done again with every
 * run. It has no comments: the server handles the whole text with every run, so its line breaks and
 * indentation go.
 */
export const preparedText = (text: string): string => `${MARK} ${text.trim().replaceAll(/\s+/g, ' ')}`;

const names = new Map<string, string>();

/**
 * PostgreSQL cuts names at 63 bytes; a digest of the text is short, and the same in every process.
 */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `paddock_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  names.set(text, name);
  return name;
}

/**
 * Makes a connection send marked statements as named ones, which is how node-postgres prepares;
 * Kysely has no way to ask for it.
 */
export function prepareMarked(client: pg.ClientBase): void {
  const query = client.query.bind(client) as (query: unknown, ...rest: unknown[]) => unknown;
  const preparing = (text: unknown, values: unknown, ...rest: unknown[]) =>
    typeof text === 'string' && text.trimStart().startsWith(MARK)
      ? query({ name: nameOf(text), text }, values, ...rest)
      : query(text, values, ...rest);
  client.query = preparing as typeof client.query;
}
