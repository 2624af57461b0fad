const CHARACTERS = new Intl.Segmenter();

/** Two cells of a terminal: emoji, and the scripts of East Asia. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u;

/** The beginning of a line that fits into so many cells of a terminal. */
export function clip(line: string, width: number): string {
  // No line of so few code units is longer than twice as many cells.
  if (line.length * 2 <= width) return line;
  let cells = 0;
  let shown = '';
  let shortest = '';
  for (const { segment } of CHARACTERS.segment(line)) {
    cells += WIDE.test(segment) ? 2 : 1;
    if (cells > width) return `${shortest}…`;
    shown += segment;
    // What leaves a cell for the sign that the line goes on.
    if (cells < width) shortest = shown;
  }
  return shown;
}
