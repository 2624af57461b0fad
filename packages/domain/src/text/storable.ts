// PostgreSQL's text holds no NUL, and its JSONB neither NUL nor half a surrogate pair. All foreign text passes through here where it
// enters: answers of GitHub and the cluster, deliveries, logs, messages of errors.

/** Text that PostgreSQL accepts: what it cannot hold becomes U+FFFD. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

const SUSPECT = /\\u(?:0000|[dD][89a-fA-F])/;

// Escapes are read from left to right in pairs, so that `\\u0000`, a backslash and five plain characters, is not taken for a NUL.
const ESCAPES = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u([0-9a-fA-F]{4})|\\[^u]/g;

/**
 * The same for JSON text, before it is parsed (B9). Valid JSON stays valid, and the text is otherwise unchanged, so that numbers beyond 2^53
 * keep their digits.
 */
export function repairJsonText(text: string): { text: string; isRepaired: boolean } {
  // Few texts have any escape of a code, and its two characters are found faster than the pattern.
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
 * The JSON text of a value, for a JSONB column, with every string and key passed through `change`. Throws a TypeError for what has no JSON
 * text (a cycle, a bigint).
 */
export function jsonText(value: unknown, change?: (text: string) => string): string {
  // A function, a symbol or undefined has no text at all.
  const text = JSON.stringify(value, change && changing(change)) ?? 'null';
  return repairJsonText(text).text;
}

const changing = (change: (text: string) => string) => (_key: string, inner: unknown) => {
  if (typeof inner === 'string') return change(inner);
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
  return Object.fromEntries(Object.entries(inner).map(([key, field]) => [change(key), field]));
};
