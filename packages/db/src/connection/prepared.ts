import { createHash } from 'node:crypto';
import { sql } from 'kysely';

const MARK = '/* prepared */';

/**
 * Put it into a statement that runs often and costs more to plan than to execute. Each
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

/** A marked statement with its name, which is how node-postgres prepares; others as they are. */
export const namedIfMarked = (text: unknown): unknown =>
  typeof text === 'string' && text.includes(MARK) ? { name: nameOf(text), text } : text;

/** A statement's parameters, by column and PostgreSQL type. */
export type SourceColumns = Readonly<Record<string, string>>;

/** The columns for json_to_recordset: any number of rows come as one JSON array of objects. */
export const asRecord = (columns: SourceColumns): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');
