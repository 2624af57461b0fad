const SUSPECT = /\\u(?:0000|[dD][89a-fA-F])/;

// Escapes are read from left to right in pairs, so that `\\u0000`, a backslash and five plain characters, is not taken for a NUL.
const ESCAPES = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u([0-9a-fA-F]{4})|\\[^u]/g;

/**
 * Replaces what JSONB cannot hold, escaped NULs and surrogates without their other half, by U+FFFD (B9). Valid JSON stays valid, and the
 * text is otherwise unchanged, so that numbers beyond 2^53 keep their digits.
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
