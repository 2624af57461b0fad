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
