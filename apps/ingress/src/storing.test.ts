import { describe, expect, test } from '@jest/globals';
import { TooSlow, createBatcher } from './batcher.ts';
import { createReadiness } from './readiness.ts';

/** A store that finishes each write at the test's command, with the test's result. */
function scriptedStore() {
  const writes: {
    batch: readonly string[];
    succeed: () => void;
    fail: (error: unknown) => void;
  }[] = [];
  const write = (batch: readonly string[]): Promise<readonly string[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    writes.push({ batch, succeed: () => resolve(batch.map((item) => `${item}!`)), fail: reject });
    return promise;
  };
  return { writes, write };
}

const sqlError = (code: string) => Object.assign(new Error('refused by PostgreSQL'), { code });

/** Lets everything that is due run. */
const settle = () => new Promise((resolve) => void setImmediate(resolve));

function start(
  options: { maxBatch?: number; maxBatchBytes?: number; maxWaitMs?: number; writers?: number } = {},
) {
  const store = scriptedStore();
  const failures: string[] = [];
  const batcher = createBatcher({
    write: store.write,
    maxBatch: 3,
    maxBatchBytes: 100,
    bytesOf: (item) => item.length,
    writers: 1,
    maxWaitMs: 60_000,
    onWritten: () => undefined,
    onFailed: (size, consequence) => failures.push(`${consequence} ${size}`),
    ...options,
  });
  /** The nth write, once it has begun. */
  const written = async (index: number) => {
    await settle();
    const write = store.writes[index];
    if (write === undefined) throw new Error(`There was no write ${index}.`);
    return write;
  };
  return { writes: store.writes, written, batcher, failures };
}

describe('the batcher', () => {
  test('writes at once at rest; deliveries that come meanwhile go together, at most a given number (B6)', async () => {
    const { batcher, writes, written } = start();
    const results = ['a', 'b', 'c', 'd', 'e'].map((item) => batcher.add(item));
    expect(writes.map(({ batch }) => batch)).toEqual([['a']]);
    (await written(0)).succeed();
    await settle();
    expect(writes.map(({ batch }) => batch)).toEqual([['a'], ['b', 'c', 'd']]);
    (await written(1)).succeed();
    (await written(2)).succeed();
    expect(await Promise.all(results)).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
    const later = batcher.add('f');
    (await written(3)).succeed();
    expect(await later).toBe('f!');
  });

  test('beside a batch that is being written another one begins once it is worth it, and never more than may (B6)', async () => {
    const { batcher, writes } = start({ maxBatch: 50, writers: 2 });
    const items = Array.from({ length: 1 + 32 + 50 + 3 }, (_, index) => String(index));
    const results = items.map((item) => batcher.add(item));
    const sizes = () => writes.map(({ batch }) => batch.length);
    expect(sizes()).toEqual([1, 32]);
    writes[0]?.succeed();
    await settle();
    expect(sizes()).toEqual([1, 32, 50]);
    // Three are left: too few for a second writer.
    writes[1]?.succeed();
    await settle();
    expect(sizes()).toEqual([1, 32, 50]);
    writes[2]?.succeed();
    await settle();
    expect(sizes()).toEqual([1, 32, 50, 3]);
    writes[3]?.succeed();
    expect(await Promise.all(results)).toEqual(items.map((item) => `${item}!`));
  });

  test('a batch ends before the item that would make it too long; one that is too long by itself goes alone', async () => {
    const { batcher, writes, written } = start({ maxBatch: 10, maxBatchBytes: 6 });
    const results = ['first', 'ab', 'cd', 'much too long', 'ef'].map((item) => batcher.add(item));
    for (let index = 0; index < 4; index++) (await written(index)).succeed();
    expect(await Promise.all(results)).toHaveLength(5);
    expect(writes.map(({ batch }) => batch)).toEqual([
      ['first'],
      ['ab', 'cd'],
      ['much too long'],
      ['ef'],
    ]);
  });

  test.each(['22P02', '23505'])(
    'a batch with bad data (%s) is split until the bad item fails alone (B6)',
    async (code) => {
      const { batcher, written, failures } = start({ maxBatch: 10 });
      const first = batcher.add('first');
      const results = Promise.allSettled(['a', 'bad', 'c', 'd'].map((item) => batcher.add(item)));
      (await written(0)).succeed();
      await first;
      for (let index = 1; index < 6; index++) {
        const write = await written(index);
        if (write.batch.includes('bad')) write.fail(sqlError(code));
        else write.succeed();
      }
      expect(
        (await results).map((result) => (result.status === 'fulfilled' ? result.value : 'refused')),
      ).toEqual(['a!', 'refused', 'c!', 'd!']);
      expect(failures).toEqual(['split 4', 'split 2', 'refused 1']);
    },
  );

  test.each(['40001', '40P01'])(
    'a batch that lost a conflict (%s) is repeated whole, once (B6)',
    async (code) => {
      const { batcher, written, failures } = start();
      const result = batcher.add('a');
      (await written(0)).fail(sqlError(code));
      (await written(1)).succeed();
      expect(await result).toBe('a!');
      const lost = batcher.add('b');
      (await written(2)).fail(sqlError(code));
      (await written(3)).fail(sqlError(code));
      await expect(lost).rejects.toMatchObject({ code });
      expect(failures).toEqual(['repeated 1', 'repeated 1', 'refused 1']);
    },
  );

  test.each(['57P01', '42P01'])(
    'after any other error (%s) nothing is tried again, and the next batch is (B6)',
    async (code) => {
      const { batcher, writes, written } = start();
      const first = batcher.add('a');
      const results = Promise.allSettled(['b', 'c'].map((item) => batcher.add(item)));
      (await written(0)).succeed();
      await first;
      await settle();
      (await written(1)).fail(sqlError(code));
      expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      const next = batcher.add('d');
      (await written(2)).succeed();
      expect(await next).toBe('d!');
      expect(writes).toHaveLength(3);
    },
  );

  test('deliveries that have waited too long are not written', async () => {
    const { batcher, writes } = start({ maxWaitMs: 0 });
    await expect(batcher.add('a')).rejects.toBeInstanceOf(TooSlow);
    expect(writes).toEqual([]);
  });
});

test('the newest batch decides whether deliveries can be written, and its failure is forgotten after a while, so that one delivery may try (B5)', async () => {
  let now = 0;
  const readiness = createReadiness({
    whyUnfit: () => Promise.resolve(undefined),
    hasPools: () => true,
    now: () => now,
  });
  expect(await readiness.whyNot()).toBeUndefined();
  readiness.writeFailed(new Error('canceling statement due to lock timeout'));
  expect(await readiness.whyNot()).toContain(
    'refused with 503: canceling statement due to lock timeout',
  );
  now = 10_001;
  expect(await readiness.whyNot()).toBeUndefined();
  readiness.writeFailed(new Error('again'));
  readiness.forget();
  expect(await readiness.whyNot()).toBeUndefined();
});
