import { isBadData, isConflict } from '@paddock/db/connection/errors';

export interface BatcherOptions<T, R> {
  /** Stores all of a batch or nothing. Gives a result for each item, in order. */
  write: (batch: readonly T[]) => Promise<readonly R[]>;
  /** Most items in one batch. */
  maxBatch: number;
  /** Most bytes in one batch. A larger item goes alone. */
  maxBatchBytes: number;
  bytesOf: (item: T) => number;
  /** Most batches at one time. */
  writers: number;
  /**
   * Longest wait in milliseconds. Its sender has then been answered, so the item is not written.
   */
  maxWaitMs: number;
  onWritten: (ms: number) => void;
  onFailed: (size: number, consequence: 'split' | 'repeated' | 'refused', error: unknown) => void;
}

export interface Batcher<T, R> {
  /** Resolves once the item is committed. Rejects with PostgreSQL's error, or with TooSlow. */
  add(item: T): Promise<R>;
}

/** The item waited too long for its turn. */
export class TooSlow extends Error {
  override readonly name = 'TooSlow';
}

interface Entry<T, R> {
  readonly item: T;
  readonly since: number;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** A second writer starts only with this many items: two small batches cost more than one large. */
const WORTH_A_WRITER = 32;

/**
 * Group commit: while one batch is written, the next one gathers. Under load many items share one
 * fsync; at rest an item does not wait for others. If the data is bad, the batch is split until the
 * bad item fails alone. After a conflict the batch is repeated once.
 */
export function createBatcher<T, R>(options: BatcherOptions<T, R>): Batcher<T, R> {
  const { write, maxBatch, maxBatchBytes, bytesOf, writers, maxWaitMs, onWritten, onFailed } =
    options;
  const enough = Math.min(WORTH_A_WRITER, maxBatch);
  let waiting: Entry<T, R>[] = [];
  let writing = 0;

  function startWriters(): void {
    while (writing < writers && waiting.length >= (writing === 0 ? 1 : enough)) void writeNext();
  }

  async function writeNext(): Promise<void> {
    writing++;
    const now = performance.now();
    const { timely = [], late = [] } = Object.groupBy(takeBatch(), ({ since }) =>
      now - since < maxWaitMs ? 'timely' : 'late',
    );
    for (const { reject } of late)
      reject(new TooSlow(`The delivery waited for more than ${maxWaitMs} ms to be stored.`));
    if (timely.length > 0) await writeOne(timely, true);
    writing--;
    startWriters();
  }

  function takeBatch(): Entry<T, R>[] {
    let bytes = 0;
    const end = waiting.findIndex(({ item }, index) => {
      bytes += bytesOf(item);
      return index === maxBatch || (index > 0 && bytes > maxBatchBytes);
    });
    const taken = end === -1 ? waiting : waiting.slice(0, end);
    waiting = waiting.slice(taken.length);
    return taken;
  }

  /** Never rejects. Resolves or rejects every entry. */
  async function writeOne(entries: readonly Entry<T, R>[], mayRepeat: boolean): Promise<void> {
    const begun = performance.now();
    try {
      const results = await write(entries.map(({ item }) => item));
      for (const [index, result] of results.entries()) entries[index]?.resolve(result);
      onWritten(performance.now() - begun);
    } catch (error) {
      await recover(entries, mayRepeat, error);
    }
  }

  async function recover(
    entries: readonly Entry<T, R>[],
    mayRepeat: boolean,
    error: unknown,
  ): Promise<void> {
    if (mayRepeat && isConflict(error)) {
      onFailed(entries.length, 'repeated', error);
      await writeOne(entries, false);
    } else if (entries.length > 1 && isBadData(error)) {
      onFailed(entries.length, 'split', error);
      const middle = Math.ceil(entries.length / 2);
      await writeOne(entries.slice(0, middle), mayRepeat);
      await writeOne(entries.slice(middle), mayRepeat);
    } else {
      onFailed(entries.length, 'refused', error);
      for (const { reject } of entries) reject(error);
    }
  }

  return {
    add: (item) => {
      const { promise, resolve, reject } = Promise.withResolvers<R>();
      waiting.push({ item, since: performance.now(), resolve, reject });
      startWriters();
      return promise;
    },
  };
}
