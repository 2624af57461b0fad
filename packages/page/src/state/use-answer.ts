import { useEffect, useState } from 'preact/hooks';
import { isResting, onChange, type Watched } from './live.ts';
import { request } from './request.ts';
import type { Trouble } from '../answers.ts';

export interface Shown<T> {
  readonly answer: T | undefined;
  readonly trouble: Trouble | undefined;
  /** Asks again now: after an action, or at a person’s wish. */
  readonly again: () => void;
}

/** A busy table changes with every look: its lists are asked for no oftener. */
const REST_MS = 3_000;

/** What passes by itself is asked again after this time. */
const REPEAT_MS = 6_000;

const isPassing = ({ status }: Trouble): boolean => status === 0 || status >= 500;

/**
 * Asks the API, as `/jobs?state=waiting`, and again when one of the tables changes. While the page
 * rests it asks nothing; afterwards the stream of changes says that everything may have changed. A
 * new path forgets the old answer. Undefined: there is nothing to ask. `everyMs`: also again after
 * each such time.
 */
export function useAnswer<T>(
  path: string | undefined,
  tables: readonly Watched[],
  everyMs?: number,
): Shown<T> {
  const [shown, setShown] = useState<{ path?: string; answer?: T; trouble?: Trouble }>({});
  const [asked, ask] = useState(0);
  const watched = tables.join();
  useEffect(() => {
    if (path === undefined) return undefined;
    const ended = new AbortController();
    const { signal } = ended;
    let lastAt = 0;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    let isStale = false;
    const load = async () => {
      isAsking = true;
      isStale = false;
      lastAt = performance.now();
      const told = await request<T>(`/api/v1${path}`, { signal }).catch(() => undefined);
      isAsking = false;
      if (told === undefined || signal.aborted) return;
      setShown((before) => ({
        path,
        ...(before.path === path && before.answer !== undefined && { answer: before.answer }),
        ...told,
      }));
      if (isStale) soon();
      else if ('trouble' in told && isPassing(told.trouble)) soon(REPEAT_MS);
    };
    const soon = (restMs = REST_MS) => {
      if (isAsking) {
        isStale = true;
        return;
      }
      const act = () => {
        waiting = undefined;
        if (!isResting.value) void load();
      };
      waiting ??= setTimeout(act, Math.max(0, lastAt + restMs - performance.now()));
    };
    void load();
    const forget = onChange((changed) => {
      if (changed.some((table) => watched.split(',').includes(table))) soon();
    });
    const clock = everyMs === undefined ? undefined : setInterval(() => soon(0), everyMs);
    return () => {
      forget();
      clearInterval(clock);
      clearTimeout(waiting);
      ended.abort();
    };
  }, [path, watched, asked, everyMs]);
  const { answer, trouble } = shown.path === path ? shown : {};
  return { answer, trouble, again: () => ask((count) => count + 1) };
}
