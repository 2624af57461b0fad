import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type pg from 'pg';

const MARK = '/* prepared */';

/**
 * Put it first in a statement that runs often and costs more to plan than to execute. Each
 * connection parses the statement once and keeps its plan. The text must never vary, because
 * connections keep all that they prepared. The plan must be right for all parameters and any number
 * of rows.
 */
export const prepared = sql.raw(MARK);

/**
 * Marks a text that is composed once, so that no run composes it again. Line breaks and indentation
 * go, because the server handles the whole text with every run; it may have no comments.
 */
export const preparedText = (text: string): string =>
  `${MARK} ${text.trim().replaceAll(/\s+/g, ' ')}`;

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
