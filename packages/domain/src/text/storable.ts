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

// In valid JSON only strings and numbers contain digits. Sticky, to continue from one to the next.
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?(\d+))?/y;
const STARTS = /["\-\d]/g;
const TEXT_ENDS = /["\\]/g;

/** PostgreSQL's numbers hold 131 072 digits before the point and 16 383 behind it. */
const MOST_DIGITS = 1_000;

/**
 * Puts quotes around numbers that JSONB cannot hold, such as 1e999999. As text they keep every
 * digit. The rest of the valid JSON stays unchanged.
 */
export function quoteHugeNumbers(json: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let start = next(STARTS, json, 0); start !== -1;) {
    const end = json[start] === '"' ? endOfText(json, start) : endOfNumber(json, start);
    if (json[start] !== '"' && isHuge(json.slice(start, end))) {
      parts.push(json.slice(copied, start), '"', json.slice(start, end), '"');
      copied = end;
    }
    start = next(STARTS, json, end);
  }
  return parts.join('') + json.slice(copied);
}

function isHuge(number: string): boolean {
  const exponent = /[eE][+-]?(\d+)$/.exec(number)?.[1] ?? '0';
  return number.length > MOST_DIGITS || Number(exponent) > MOST_DIGITS;
}

function endOfNumber(json: string, start: number): number {
  NUMBER.lastIndex = start;
  NUMBER.test(json);
  return NUMBER.lastIndex;
}

function endOfText(json: string, start: number): number {
  let at = next(TEXT_ENDS, json, start + 1);
  while (json[at] === '\\') at = next(TEXT_ENDS, json, at + 2);
  return at + 1;
}

/** Where the pattern occurs next, or -1. */
function next(pattern: RegExp, json: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(json) ? pattern.lastIndex - 1 : -1;
}

/** Labels as rows hold them: lower case, unique, sorted by code unit. */
export function normaliseLabels(labels: readonly string[]): string[] {
  return [...new Set(labels.map((label) => label.toLowerCase()))].toSorted(byCodeUnit);
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** In UTF-8. An index entry has at most 2 704 bytes, including what JSONB adds to each label. */
export const MOST_LABEL_BYTES = 2_000;

/** Those that fit into a row, from the first on. All do, if the job fits a pool. */
export function storableLabels(labels: readonly string[]): readonly string[] {
  let bytes = 0;
  return labels.filter((label) => (bytes += bytesOf(label)) <= MOST_LABEL_BYTES);
}

/** Includes what JSONB adds. */
const bytesOf = (label: string): number => new TextEncoder().encode(label).length + 4;
