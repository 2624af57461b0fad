/** Prints the progress of each stage. */
export interface Progress {
  show(stages: Readonly<Record<string, string>>): void;
  say(line: string): void;
}

const PLAIN_EVERY_MS = 1_000;

/**
 * On a terminal one line per stage, updated in place; elsewhere one line for all stages, at most
 * every second and only when something moved.
 */
export function createProgress(
  out: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
  now: () => number,
): Progress {
  let shown = '';
  let shownAt = Number.NEGATIVE_INFINITY;
  let linesUp = 0;
  return {
    show(stages) {
      const entries = Object.entries(stages);
      const text = out.isTTY
        ? entries.map(([name, value]) => `  ${name.padEnd(12)}${value}\n`).join('')
        : `  ${entries.map(([name, value]) => `${name} ${value}`).join(', ')}\n`;
      if (text === shown || (!out.isTTY && now() - shownAt < PLAIN_EVERY_MS)) return;
      shown = text;
      shownAt = now();
      out.write(linesUp > 0 ? `\u001b[${linesUp}A\u001b[J${text}` : text);
      if (out.isTTY) linesUp = entries.length;
    },
    say(line) {
      linesUp = 0;
      out.write(`${line}\n`);
    },
  };
}
