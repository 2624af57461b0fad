import { beforeEach, describe, expect, test } from '@jest/globals';
import { createReach, isAnswer, type Probe, type Reach } from './reach.ts';

/** A probe whose answers the test gives, and a clock on which only waits take time. */
let begun: PromiseWithResolvers<string | undefined>[];
let told: unknown[];
let isSharingBroken: boolean;
let at: number;
let reach: Reach;
let starts: number[];
const probe: Probe = () => {
  const answer = Promise.withResolvers<string | undefined>();
  begun.push(answer);
  starts.push(at);
  return answer.promise;
};
beforeEach(() => {
  [begun, told, starts, at, isSharingBroken] = [[], [], [], 10_000, false];
  reach = createReach({
    probe,
    onAway: (message) => told.push(`away: ${message}`),
    onBack: () => told.push('back'),
    share: (message) => {
      told.push(`shared: ${message}`);
      return isSharingBroken ? Promise.reject(new Error('PostgreSQL is away')) : Promise.resolve();
    },
    now: () => at,
    pause: (ms) => {
      at += ms;
      return Promise.resolve();
    },
  });
});

/** Lets everything that is due run. */
const turn = () => new Promise(setImmediate);
const answer = async (message?: string) => {
  await turn();
  begun.at(-1)?.resolve(message);
  await turn();
};

describe('a reach', () => {
  test('takes no service to be away before a probe says so', async () => {
    expect(reach.isAway()).toBe(false);
    const reported = reach.report();
    await turn();
    expect(reach.isAway()).toBe(false);
    await answer('no route');
    expect([await reported, reach.isAway()]).toEqual([true, true]);
    expect(told).toEqual(['away: no route', 'shared: no route']);
  });

  test('is not away where the probe is answered, however often calls fail', async () => {
    for (let failed = 0; failed < 5; failed += 1) {
      const reported = reach.report();
      await answer();
      expect(await reported).toBe(false);
    }
    expect(told).toEqual([]);
  });

  test('asks anew for a call that failed after the probe had begun', async () => {
    const first = reach.report();
    await turn();
    const second = reach.report();
    await answer();
    expect(await first).toBe(false);
    expect(begun).toHaveLength(2);
    await answer('no route');
    expect(await second).toBe(true);
  });

  test('keeps its word when it cannot ask', async () => {
    const fail = async () => {
      const reported = reach.report();
      await turn();
      begun.at(-1)?.reject(new Error('GitHub has asked us to wait'));
      return reported;
    };
    expect(await fail()).toBe(false);
    const reported = reach.report();
    await answer('no route');
    await reported;
    expect(await fail()).toBe(true);
  });

  test('probes once a second while away; the first answer ends it, and nothing is probed afterwards', async () => {
    const stop = new AbortController();
    const ended = reach.run(stop.signal);
    await turn();
    expect(begun).toEqual([]);
    void reach.report();
    for (const message of ['no route', 'no route', 'still none']) await answer(message);
    await answer();
    expect([reach.isAway(), starts]).toEqual([false, [10_000, 11_000, 12_000, 13_000]]);
    expect(told).toEqual(['away: no route', 'shared: no route', 'back', 'shared: undefined']);
    stop.abort();
    await ended;
  });

  test('tells others again until it succeeds', async () => {
    const stop = new AbortController();
    const ended = reach.run(stop.signal);
    isSharingBroken = true;
    void reach.report();
    await answer('no route');
    isSharingBroken = false;
    await answer('no route');
    await answer('no route');
    expect(told).toEqual(['away: no route', 'shared: no route', 'shared: no route']);
    stop.abort();
    await answer('aborted');
    await ended;
  });

  test('stops with its signal, and takes the probe that ends with it for no answer', async () => {
    const stop = new AbortController();
    const ended = reach.run(stop.signal);
    const reported = reach.report();
    await turn();
    stop.abort();
    await answer('aborted');
    await ended;
    expect([await reported, told]).toEqual([false, []]);
  });
});

test('an answer below 500 shows that a service is there, unless a proxy before it gave it', () => {
  const statuses = [200, 302, 403, 404, 429, 407, 500, 503, undefined];
  expect(statuses.filter(isAnswer)).toEqual([200, 302, 403, 404, 429]);
});
