// PostgreSQL's text holds no NUL, and its JSONB neither NUL nor half a surrogate pair. All foreign
// text is repaired here on entry: deliveries, answers of GitHub and the cluster, logs, errors.

/** Text for PostgreSQL: characters that it cannot hold become U+FFFD. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

const SUSPECT = /\\u(?:0000|[dD][89a-fA-F])/;

// Also matches other escapes, so that `\\u0000`, a backslash and plain text, is not taken for a
// NUL.
const ESCAPES =
  /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u([0-9a-fA-F]{4})|\\[^u]/g;

/**
 * The same for JSON text, before it is parsed. Valid JSON stays valid. The rest of the text stays
 * unchanged, so numbers beyond 2^53 keep their digits.
 */
export function repairJsonText(text: string): { text: string; isRepaired: boolean } {
  // Few texts have such an escape, and `includes` is faster than the pattern.
  if (!text.includes('\\u') || !SUSPECT.test(text)) return { text, isRepaired: false };
  let isRepaired = false;
  const repaired = text.replace(ESCAPES, (escape, code: string | undefined) => {
    if (code === undefined || !cannotBeStored(Number.parseInt(code, 16))) return escape;
    isRepaired = true;
    return '\\ufffd';
  });
  return { text: repaired, isRepaired };
}

const cannotBeStored = (unit: number): boolean => unit === 0 || (unit >= 0xd800 && unit <= 0xdfff);

/**
 * The JSON text of a value for a JSONB column. Every string and key passes through `change`. Throws
 * a TypeError for a cycle or a bigint.
 */
export function jsonText(value: unknown, change?: (text: string) => string): string {
  // A function, a symbol and undefined have no JSON text.
  const text = JSON.stringify(value, change && changing(change)) ?? 'null';
  return repairJsonText(text).text;
}

const changing = (change: (text: string) => string) => (_key: string, inner: unknown) => {
  if (typeof inner === 'string') return change(inner);
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
  return Object.fromEntries(Object.entries(inner).map(([key, field]) => [change(key), field]));
};
