import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { waitFor } from '@paddock/testing/wait-for';
import { executorEvents } from './executor-events.ts';
import { done, type Handler, type Kinds, type Task } from './kind.ts';
import { declareQueueDepth } from './queue-depth.ts';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';

const queue = useQueue();
const { database } = queue;

const { start, operations, tasks } = queue;
const kindOf = (handler: Handler, slots = 4) => ({ a: { handler, slots } });
const short = (dueInMs: number) =>
  Array.from({ length: 300 }, (_, n) => task('a', `${dueInMs}-${n}`, { dueInMs }));
/** Notes the subjects of its runs. */
const noting = () => {
  const seen: string[] = [];
  const handler: Handler = (one) => (seen.push(one.subject.id), Promise.resolve(done()));
  return { seen, handler };
};

describe('an executor', () => {
  test('runs due tasks, and those that come while it runs, woken by the notification alone (D3)', async () => {
    const { seen, handler } = noting();
    await queue.enqueue(task('a', 'before'));
    start(kindOf(handler), { pollMs: 3_600_000 });
    await waitFor('the first task', () => seen.includes('before'));
    await queue.untilListening();
    await queue.enqueue(task('a', 'after'));
    await waitFor('the second task', () => seen.includes('after'));
    expect(seen).toEqual(['before', 'after']);
  });

  test('claims no task that needs a service that is away, and all of them at once when woken (C11)', async () => {
    let isAway = true;
    const { seen, handler } = noting();
    const kinds: Kinds = {
      a: { handler, slots: 4 },
      b: { handler, slots: 4, needs: ['github'] },
      c: { handler, slots: 4, needs: ['cluster', 'github'] },
    };
    const { executor } = start(kinds, {
      pollMs: 3_600_000,
      isAway: (service) => service === 'github' && isAway,
    });
    await queue.untilListening();
    await queue.enqueue(task('b', 'b'), task('c', 'c'), task('a', 'a'));
    await waitFor('the task that needs nothing', async () => (await operations()).length === 1);
    expect(seen).toEqual(['a']);
    const waits = { status: 'queued', attempt: 0 };
    expect(await tasks()).toMatchObject([waits, waits]);
    isAway = false;
    executor.wake();
    await waitFor('the others', async () => (await operations()).length === 3);
    expect(seen.toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('never runs more tasks of a kind than it has slots, and a full kind does not hold up another (D7, D11)', async () => {
    const release = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const slow: Handler = async () => {
      most = Math.max(most, ++running);
      await release.promise;
      running--;
      return done();
    };
    const { seen, handler } = noting();
    start({ slow: { handler: slow, slots: 2 }, quick: { handler, slots: 1 } });
    await queue.enqueue(...Array.from({ length: 6 }, (_, n) => task('slow', `w-${n}`)));
    await waitFor('both slots to be taken', () => running === 2);
    await queue.enqueue(task('quick', 'x'));
    await waitFor('the quick one', () => seen.length === 1);
    release.resolve();
    await waitFor('all to be done', async () => (await operations()).length === 7);
    expect(most).toBe(2);
  });

  test('gives back what it claimed ahead when a long run follows short ones (D7)', async () => {
    const release = Promise.withResolvers<void>();
    const kinds = kindOf(async ({ subject: { id } }) => {
      if (id === 'long') await release.promise;
      return done();
    }, 1);
    await queue.enqueue(...short(0), task('a', 'long', { dueInMs: 1 }), ...short(2));
    start(kinds, { pollMs: 20 });
    await waitFor('the long run', async () =>
      (await tasks()).some(
        ({ subject_id, status }) => subject_id === 'long' && status === 'running',
      ),
    );
    start(kinds, { pollMs: 20 });
    await waitFor('the others', async () => (await operations()).length === 600);
    expect(await tasks()).toMatchObject([{ subject_id: 'long', crashes: 0 }]);
    release.resolve();
    await waitFor('the long run’s end', async () => (await operations()).length === 601);
    expect((await operations()).every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('runs nothing with a concurrency of 0 (D7)', async () => {
    await queue.enqueue(task('a', 'x'));
    const idle = start(kindOf(noting().handler), { concurrencyPercent: 0, pollMs: 10 });
    await queue.untilListening();
    idle.executor.wake();
    await idle.stop();
    expect(await tasks()).toMatchObject([{ status: 'queued', attempt: 0 }]);
  });

  test('the fifth failed run ends the task, with all five on record (D4)', async () => {
    const { told } = start(
      kindOf(() => Promise.reject(new Error('502 from GitHub'))),
      { pollMs: 20, backoff: { firstMs: 1, longestMs: 1 } },
    );
    await queue.enqueue(task('a', 'x'));
    await waitFor('the end', async () => (await operations()).length === 1);
    const [operation] = await operations();
    const failures = [1, 2, 3, 4, 5].map((attempt) => ({ attempt, reason: 'error' }));
    const failure = { failure_reason: 'attempts', failure_message: '502 from GitHub' };
    expect(operation).toMatchObject({ status: 'ERROR', attempt: 5, ...failure, failures });
    const outcomes = told.processed.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['retry', 'retry', 'retry', 'retry', 'failed']);
  });

  test('a handler that never settles frees its slot at the timeout, and its late result is kept out (D6, D13)', async () => {
    const late: (() => void)[] = [];
    const { told } = start(
      {
        a: {
          slots: 1,
          timeoutMs: 50,
          handler: (one) =>
            one.subject.id === 'quick'
              ? Promise.resolve(done())
              : new Promise((resolve) => late.push(() => resolve(done({ late: true })))),
        },
      },
      { pollMs: 20 },
    );
    await queue.enqueue(task('a', 'hangs', { maxAttempts: 1 }));
    await waitFor('the first run', () => late.length === 1);
    await queue.enqueue(task('a', 'quick'));
    await waitFor('both', () => told.processed.length === 2);
    for (const settle of late) settle();
    expect(
      (await operations()).toSorted((a, b) => (a.subject_id < b.subject_id ? -1 : 1)),
    ).toMatchObject([
      { subject_id: 'hangs', status: 'ERROR', failure_reason: 'timeout', output: null },
      { subject_id: 'quick', status: 'OK' },
    ]);
  });

  test('a run that was given up has nothing left of its claim, so it makes no call beside its successor (C6, D6)', async () => {
    const runs: Task[] = [];
    const hanging: Handler = (one) => {
      runs.push(one);
      return new Promise(() => undefined);
    };
    const { told } = start({ a: { slots: 1, timeoutMs: 50, handler: hanging } });
    await queue.enqueue(task('a', 'x'));
    await waitFor('the timeout', () => told.processed.length === 1);
    expect(runs.map((run) => run.claimLeft())).toEqual([0]);
  });

  test('a result that cannot be stored is a failed run, and other ended runs are settled (D4)', async () => {
    const release = Promise.withResolvers<void>();
    const { told } = start(
      kindOf(async (one) => {
        await release.promise;
        return one.subject.id === 'bad'
          ? done({}, [task('next', 'x', { dueInMs: Number.NaN })])
          : done();
      }),
    );
    await queue.enqueue(task('a', 'bad'), task('a', 'good'), task('a', 'fine'));
    await waitFor('all three to run', async () =>
      (await tasks()).every(({ status }) => status === 'running'),
    );
    release.resolve();
    await waitFor('all three to be settled', () => told.processed.length === 3);
    const failures = [{ message: expect.stringContaining('cannot be stored') }];
    expect(await tasks()).toMatchObject([{ subject_id: 'bad', status: 'queued', failures }]);
    expect(told.failed).toEqual([]);
  });
});

test('gauges show the running tasks of each kind, and the due ones of a kind without an executor (D8, D11)', async () => {
  const metrics = createMetrics();
  const release = Promise.withResolvers<void>();
  const handler: Handler = async () => {
    await release.promise;
    return done();
  };
  start(
    { a: { handler, slots: 1 }, idle: { handler, slots: 1 } },
    { events: executorEvents(metrics, SILENT_LOG) },
  );
  declareQueueDepth(metrics, database.db);
  const later = task('unknown', 'later', { dueInMs: 3_600_000 });
  await queue.enqueue(task('a', 'x'), task('unknown', 'x'), later);
  const shows = (...lines: string[]) =>
    waitFor(lines.join(), async () => {
      const page = await metrics.registry.metrics();
      return lines.every((line) => page.includes(`\npaddock_task_${line}\n`));
    });
  // A kind is there before it has run: a missing series and a zero are not the same to an alert.
  await shows('in_flight{kind="a"} 1', 'in_flight{kind="idle"} 0');
  await shows('due{kind="unknown"} 1', 'queued{kind="unknown"} 2');
  release.resolve();
  expect(await shows('in_flight{kind="a"} 0')).toBe(true);
});
