import { describe, expect, test } from '@jest/globals';
import { done } from './outcome.ts';
import { runHandler } from './run-handler.ts';
import type { Task } from './kind.ts';

const TASK: Task = {
  id: 'id',
  kind: 'kind',
  subject: { type: 'worker', id: 'a', name: null },
  payload: {},
  attempt: 1,
  maxAttempts: 5,
  crashes: 0,
  deliveryGuid: null,
  fence: 1,
  claimLeft: () => 1,
};
const LONG_MS = 60_000;

describe('runHandler', () => {
  test('returns the handler’s result', async () => {
    expect(await runHandler(() => Promise.resolve(done(1)), TASK, LONG_MS).result).toEqual({
      ended: 'outcome',
      outcome: done(1),
    });
  });

  test.each([
    [
      'an exception',
      () => {
        throw new Error('at once');
      },
      new Error('at once'),
    ],
    ['a rejected promise', () => Promise.reject(new Error('later')), new Error('later')],
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what this test is about
    ['a rejection that is no Error', () => Promise.reject('text'), 'text'],
  ])('catches %s (D4)', async (_what, handler, thrown) => {
    expect(await runHandler(handler, TASK, LONG_MS).result).toEqual({ ended: 'thrown', thrown });
  });

  test('gives up a handler that never settles and ignores its signal (D13)', async () => {
    let seen: AbortSignal | undefined;
    const run = runHandler(
      (_task, signal) => {
        seen = signal;
        return new Promise(() => undefined);
      },
      TASK,
      20,
    );
    expect(await run.result).toEqual({ ended: 'interrupted', by: 'timeout' });
    expect(seen?.aborted).toBe(true);
    expect(seen?.reason).toEqual(new Error('the run took longer than its 20 ms'));
  });

  test('is interrupted for the first reason only, even if the handler goes on', async () => {
    const run = runHandler(
      (_task, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
      TASK,
      LONG_MS,
    );
    run.interrupt('claim-lost');
    run.interrupt('stopping');
    expect(await run.result).toEqual({ ended: 'interrupted', by: 'claim-lost' });
  });
});
