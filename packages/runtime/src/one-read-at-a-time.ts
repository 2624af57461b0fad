import { pause } from './pause.ts';

export interface ReadTold {
  /** Called once when reading begins to fail, not for each failure. */
  onFailed: (error: unknown) => void;
  onReadAgain: () => void;
}

/**
 * A scrape must not wait for longer: Prometheus gives up after 10 s by default, and then loses all
 * other metrics.
 */
const PATIENCE_MS = 2_000;

/** Gauges of one scrape, and of simultaneous scrapes, share one reading. */
const FRESH_MS = 1_000;

/**
 * Reads for all callers: at most once a second, and never twice at the same time, even while a
 * reading hangs. Resolves to undefined when reading fails or takes too long. Never rejects.
 */
export function oneReadAtATime<T>(
  read: () => Promise<T>,
  { onFailed, onReadAgain }: ReadTold,
): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined;
  let newest: { readonly value: T; readonly at: number } | undefined;
  let isFailing = false;

  const fail = (error: unknown): undefined => {
    newest = undefined;
    if (!isFailing) onFailed(error);
    isFailing = true;
    return undefined;
  };
  const readNow = async (): Promise<T | undefined> => {
    try {
      const value = await read();
      newest = { value, at: performance.now() };
      if (isFailing) onReadAgain();
      isFailing = false;
      return value;
    } catch (error) {
      return fail(error);
    } finally {
      reading = undefined;
    }
  };

  return async () => {
    if (newest !== undefined && performance.now() - newest.at < FRESH_MS) return newest.value;
    reading ??= readNow();
    const answered = new AbortController();
    const late = pause(PATIENCE_MS, answered.signal).then(() =>
      answered.signal.aborted
        ? undefined
        : fail(new Error(`They were not read within ${PATIENCE_MS} ms.`)),
    );
    try {
      return await Promise.race([reading, late]);
    } finally {
      answered.abort();
    }
  };
}
