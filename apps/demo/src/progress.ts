/** Prints the progress of each stage. */
export interface Progress {
  show(stages: Readonly<Record<string, string>>): void;
  say(line: string): void;
}

const EVERY_MS = 1_000;

/** Shows all stages on one line, at most every second and only when something moved. */
export function createProgress(write: (text: string) => unknown): Progress {
  let shown = '';
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(stages) {
      const text = Object.entries(stages)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ');
      if (text === shown || performance.now() - shownAt < EVERY_MS) return;
      shown = text;
      shownAt = performance.now();
      write(`  ${text}\n`);
    },
    say: (line) => void write(`${line}\n`),
  };
}
