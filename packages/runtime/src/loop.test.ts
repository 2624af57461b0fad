import { describe, expect, test } from '@jest/globals';
import { loop, createWake } from './loop.ts';
import { pause } from './pause.ts';

const HOUR_MS = 3_600_000;

describe('loop', () => {
  test('a ring during a step causes another step, and steps never overlap', async () => {
    const wake = createWake();
    const stop = new AbortController();
    let running = 0;
    let steps = 0;
    await loop(
      async () => {
        expect(++running).toBe(1);
        steps++;
        if (steps < 4) wake.ring();
        else stop.abort();
        await pause(1, new AbortController().signal);
        running--;
      },
      { wake, intervalMs: HOUR_MS, onError: (error) => expect(error).toBeUndefined() },
      stop.signal,
    );
    expect(steps).toBe(4);
  });

  test('a failed step is reported, and the loop continues', async () => {
    const wake = createWake();
    const stop = new AbortController();
    const errors: unknown[] = [];
    let steps = 0;
    await loop(
      () => {
        wake.ring();
        if (++steps === 3) stop.abort();
        return steps === 1 ? Promise.reject(new Error('first')) : Promise.resolve();
      },
      { wake, intervalMs: HOUR_MS, onError: (error) => errors.push(error) },
      stop.signal,
    );
    expect(errors).toEqual([new Error('first')]);
    expect(steps).toBe(3);
  });

  test('without a ring the next step comes after the interval', async () => {
    const stop = new AbortController();
    let steps = 0;
    await loop(
      () => {
        if (++steps === 3) stop.abort();
        return Promise.resolve();
      },
      { wake: createWake(), intervalMs: 1, onError: () => undefined },
      stop.signal,
    );
    expect(steps).toBe(3);
  });

  test('waiting ends when the signal aborts, also if it aborted before', async () => {
    const stop = new AbortController();
    const waiting = createWake().wait(HOUR_MS, stop.signal);
    stop.abort();
    await waiting;
    await createWake().wait(HOUR_MS, stop.signal);
    await pause(HOUR_MS, stop.signal);
    expect(stop.signal.aborted).toBe(true);
  });
});
