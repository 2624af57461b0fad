import { isBadData, isConflict } from '@paddock/db/errors';

export interface BatcherOptions<T, R> {
  /** Stores a batch, all of it or nothing; gives a result for each item, in order. */
  write: (batch: readonly T[]) => Promise<readonly R[]>;
  /** Most items in one batch. */
  maxBatch: number;
  /** An item that has waited for longer is not written any more: its sender has been answered. In milliseconds. */
  maxWaitMs: number;
  onWritten: (size: number, ms: number) => void;
  onFailed: (size: number, consequence: 'split' | 'repeated' | 'refused', error: unknown) => void;
}

export interface Batcher<T, R> {
  /** Resolves once the item is committed. Rejects with what PostgreSQL said of it or of its batch, or with TooSlow. */
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

/**
 * Group commit: while one batch is written the next one gathers, so that many share one fsync under load and nobody waits for company at
 * rest. A batch is split only when its data is at fault, so that one bad item fails alone; a lost conflict repeats it once (B6).
 */
export function createBatcher<T, R>(options: BatcherOptions<T, R>): Batcher<T, R> {
  const { write, maxBatch, maxWaitMs, onWritten, onFailed } = options;
  const waiting: Entry<T, R>[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const taken = waiting.splice(0, maxBatch);
      const [timely, late] = partition(taken, ({ since }) => performance.now() - since < maxWaitMs);
      for (const { reject } of late) reject(new TooSlow(`The delivery waited for more than ${maxWaitMs} ms to be stored.`));
      if (timely.length > 0) await writeOne(timely, true);
    }
    isWriting = false;
  }

  /** Never rejects: every entry is settled. */
  async function writeOne(entries: readonly Entry<T, R>[], mayRepeat: boolean): Promise<void> {
    const begun = performance.now();
    try {
      const results = await write(entries.map(({ item }) => item));
      for (const [index, result] of results.entries()) entries[index]?.resolve(result);
      onWritten(entries.length, performance.now() - begun);
    } catch (error) {
      await recover(entries, mayRepeat, error);
    }
  }

  async function recover(entries: readonly Entry<T, R>[], mayRepeat: boolean, error: unknown): Promise<void> {
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
      if (!isWriting) void writeAll();
      return promise;
    },
  };
}

function partition<T>(items: readonly T[], belongsLeft: (item: T) => boolean): [T[], T[]] {
  const left: T[] = [];
  const right: T[] = [];
  for (const item of items) (belongsLeft(item) ? left : right).push(item);
  return [left, right];
}
