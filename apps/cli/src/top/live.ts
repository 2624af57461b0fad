import { once } from 'node:events';
import { pause } from '@paddock/runtime/pause';
import type { Terminal } from '../command.ts';

export interface Live {
  readonly intervalMs: number;
  /** Never rejects. */
  refresh(): Promise<void>;
  draw(height: number): readonly string[];
}

/** A screen of its own, without a cursor; a line that is too long is cut, not wrapped. */
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l';
const LEAVE = '\u001B[?7h\u001B[?25h\u001B[?1049l';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** As a terminal in raw mode sends q, Ctrl-C and Ctrl-D. */
const ENDS = ['q', 'Q', '\u0003', '\u0004'];

/**
 * Draws again and again at the same place, until the person presses q or Ctrl-C or the process is
 * to end. Then the terminal is as it was.
 */
export async function showLive(
  { input, output }: Terminal,
  { intervalMs, refresh, draw }: Live,
): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const ended = once(signal, 'abort');
  const end = () => ending.abort();
  const onKeys = (keys: unknown) => {
    if (ENDS.some((key) => String(keys).includes(key))) end();
  };
  const redraw = () => {
    // To the end of each line and of the screen, what was there before is erased.
    const lines = draw(output.rows ?? 24).map((line) => `${line}\u001B[K`);
    output.write(`\u001B[H${lines.join('\r\n')}\u001B[J`);
  };
  output.write(ENTER);
  input.setRawMode?.(true);
  input.on('data', onKeys);
  input.resume();
  output.on('resize', redraw);
  for (const name of SIGNALS) process.once(name, end);
  try {
    redraw();
    while (!signal.aborted) {
      await pause(intervalMs, signal);
      if (!signal.aborted) await Promise.race([refresh(), ended]);
      if (!signal.aborted) redraw();
    }
  } finally {
    for (const name of SIGNALS) process.off(name, end);
    output.off('resize', redraw);
    input.off('data', onKeys);
    input.pause();
    input.setRawMode?.(false);
    output.write(LEAVE);
  }
}
