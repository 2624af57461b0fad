/** Overrides, embeddings and isolates: they turn the direction of what follows them. */
const TURNS = /[\u202A-\u202E\u2066-\u2069]/g;

/**
 * Names come from strangers: a character that would turn our own words about them is shown as its
 * escape, `\u202e`.
 */
export const withoutTurns = (text: string): string => text.replaceAll(TURNS, escaped);

/** Reads an answer, without such characters. Undefined: it is no JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll(TURNS, (turn) => `\\${escaped(turn)}`));
  } catch {
    return undefined;
  }
}

const escaped = (turn: string): string => `\\u${turn.charCodeAt(0).toString(16)}`;
