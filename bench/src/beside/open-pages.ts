import { pause } from '@paddock/runtime/pause';
import type { RunningConsole } from '../console/start-console.ts';
import { entityOfJobs } from '../ingress/deliveries.ts';
import type { Running } from './neighbour.ts';

/** What a page asks for at each change. */
interface Page {
  readonly follows: string;
  readonly asks: readonly string[];
}

const BOARD: Page = { follows: 'changes?pools', asks: ['stops'] };
const JOBS: Page = { follows: 'changes', asks: ['jobs?state=waiting'] };
const WORKERS: Page = { follows: 'changes', asks: ['workers'] };
/** The heaviest view that people keep open. */
const TRACE: Page = {
  follows: 'changes',
  asks: [`trace/entity/${encodeURIComponent(entityOfJobs().login)}`],
};

/** Ten people look: most at the board. */
const PAGES = [BOARD, BOARD, BOARD, BOARD, JOBS, JOBS, JOBS, WORKERS, WORKERS, TRACE];

/** As in the page: a list is asked for no oftener. */
const REST_MS = 3_000;

type Console = Pick<RunningConsole, 'url' | 'headers'>;

/**
 * Follows the changes as ten open pages do, and asks for what they show. Resolves when each has had
 * its first answers.
 */
export async function openPages(console: Console): Promise<Running> {
  const closing = new AbortController();
  const counts = { done: 0, failures: 0 };
  const pages = PAGES.map((page) => {
    const first = Promise.withResolvers<void>();
    const ended = keepOpen(page, {
      ...console,
      signal: closing.signal,
      counts,
      onAsked: first.resolve,
    });
    return { ended, shown: Promise.race([first.promise, ended]) };
  });
  await Promise.all(pages.map(({ shown }) => shown));
  return {
    async stop() {
      closing.abort();
      await Promise.all(pages.map(({ ended }) => ended));
      return counts;
    },
  };
}

interface Open extends Console {
  readonly signal: AbortSignal;
  readonly counts: { done: number; failures: number };
  readonly onAsked: () => void;
}

async function keepOpen(
  { follows, asks }: Page,
  { url, headers, signal, counts, onAsked }: Open,
): Promise<void> {
  const ask = async (path: string) => {
    const answer = await fetch(`${url}api/v1/${path}`, { headers, signal });
    await answer.text();
    counts[answer.ok ? 'done' : 'failures'] += 1;
  };
  try {
    const stream = await fetch(`${url}${follows}`, { headers, signal });
    if (!stream.ok || stream.body === null) throw new Error(`/${follows}: ${stream.status}`);
    const text = stream.body.pipeThrough(new TextDecoderStream());
    for await (const said of text) {
      if (!said.includes('event: changed')) continue;
      for (const path of asks) await ask(path);
      onAsked();
      await pause(REST_MS, signal);
    }
  } catch {
    // Closing ends the answer that is under way.
    if (!signal.aborted) counts.failures += 1;
  }
}
