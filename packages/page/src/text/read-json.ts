/** Overrides, embeddings and isolates: they turn the direction of what follows them. */
const TURNS = /[\u202A-\u202E\u2066-\u2069]/g;

/**
 * Reads an answer. Names come from strangers: a character that would turn our own words about them
 * is shown as its escape, `\u202e`. Undefined: it is no JSON.
 */
export function readJson(text: string): unknown {
  const shown = text.replaceAll(TURNS, (turn) => `\\\\u${turn.charCodeAt(0).toString(16)}`);
  try {
    return JSON.parse(shown);
  } catch {
    return undefined;
  }
}
