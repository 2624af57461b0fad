/**
 * Whether a text matches a pattern, without regard to case. `*` matches any number of characters
 * other than `/`. Never backtracks, so no pattern takes long.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [patterns, texts] = [pattern.toLowerCase().split('/'), text.toLowerCase().split('/')];
  return (
    patterns.length === texts.length &&
    patterns.every((part, index) => matchesPart(part, texts[index] ?? ''))
  );
}

/**
 * The first and last piece must be at the ends. The others follow in order, each as early as
 * possible.
 */
function matchesPart(pattern: string, text: string): boolean {
  const pieces = pattern.split('*');
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, from);
    if (found === -1 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}
