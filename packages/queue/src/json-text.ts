/**
 * The text of a value for a JSONB column, with every string and key of it passed through `change`. NUL and lone surrogates, which JSONB
 * cannot hold, become U+FFFD. Throws a TypeError for what has no JSON text (a cycle, a bigint).
 */
export function jsonText(value: unknown, change?: (text: string) => string): string {
  if (change === undefined) {
    // A function, a symbol or undefined has no text at all.
    const plain = JSON.stringify(value) ?? 'null';
    if (!MAYBE_NOT_STORABLE.test(plain)) return plain;
  }
  const changed = (text: string) => storable(change === undefined ? text : change(text));
  const text = JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'string') return changed(inner);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, field]) => [changed(key), field]));
  });
  return text ?? 'null';
}

/** How JSON.stringify writes NUL and lone surrogates; an escaped backslash before it may look the same, and only costs time. */
const MAYBE_NOT_STORABLE = /\\u(?:0000|d[89a-f])/;

/** Text that PostgreSQL accepts. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();
