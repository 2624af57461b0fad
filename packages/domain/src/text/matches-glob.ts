/**
 * Whether a text is of this form: `*` stands for any characters but `/`, none included, all else for itself, without regard to case. Goes
 * through the text once and never back, so that no pattern keeps it busy.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [patterns, texts] = [pattern.toLowerCase().split('/'), text.toLowerCase().split('/')];
  return patterns.length === texts.length && patterns.every((part, index) => matchesPart(part, texts[index] ?? ''));
}

/** The first and the last piece stand at the ends, and between them the others one after the other, each as early as it can. */
function matchesPart(pattern: string, text: string): boolean {
  const pieces = pattern.split('*');
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, from);
    if (found === -1 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}
