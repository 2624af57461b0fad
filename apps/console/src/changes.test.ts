import { describe, expect, jest, test } from '@jest/globals';
import type { Changes } from '@paddock/api/sessions/read-changes';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type ChangesOptions, createChangeStreams } from './changes.ts';
import { createPlaces } from './places.ts';

/** A response whose text goes nowhere else. A page that is stuck reads the beginning only. */
function page({ isStuck = false } = {}): { response: ServerResponse; text: () => string } {
  let text = '';
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.assignSocket(
    new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        if (!isStuck) done();
      },
    }) as Socket,
  );
  return { response, text: () => text };
}

const zero = { jobs: 0, workers: 0 } as Changes['written'];

/** Streams of changes without a change. Every token is good, except `bad`. */
function scene(more: Partial<ChangesOptions> = {}) {
  const streams = createChangeStreams({
    look: (tokens) =>
      Promise.resolve({
        written: zero,
        tokens: tokens.filter((one) => one !== 'bad'),
        sessions: [],
      }),
    lookEveryMs: 2_000,
    ...more,
  });
  const open = async ({ response }: ReturnType<typeof page>, token = 't') =>
    (await streams.open({ ownerId: 'o', token, session: undefined }))?.(response);
  return { ...streams, open };
}

describe('changes', () => {
  test('cost one look for any number of pages, and none without a page', async () => {
    const looks: (readonly string[])[] = [];
    const { once, open } = scene({
      look(tokens) {
        looks.push(tokens);
        return Promise.resolve({ written: { ...zero, jobs: looks.length }, tokens, sessions: [] });
      },
    });
    await once();
    expect(looks).toEqual([]);

    const pages = Array.from({ length: 30 }, () => page());
    for (const [n, one] of pages.entries()) await open(one, `t${n % 2}`);
    await once();
    await once();
    await setImmediate();
    const both = ['t0', 't1'];
    expect(looks).toEqual([both, both]);
    for (const { text } of pages)
      expect(text()).toMatch(/event: changed\ndata: \["jobs","workers"\]\n\n[^]*\["jobs"\]\n\n$/);
  });

  test('are kept for no page that has stopped reading', async () => {
    let jobs = 0;
    const { once, open } = scene({
      look: (tokens) => {
        const written = { ...zero, jobs: ++jobs, ['x'.repeat(600_000)]: jobs };
        return Promise.resolve({ written, tokens, sessions: [] });
      },
    });
    const pages = [page(), page({ isStuck: true })];
    for (const one of pages) await open(one);
    for (let look = 0; look < 3; look += 1) {
      await once();
      await setImmediate();
    }
    expect(pages.map(({ response }) => response.destroyed)).toEqual([false, true]);
  });

  test('end with the token, and with the service', async () => {
    const { once, open, close } = scene();
    const pages = [page(), page()] as const;
    await open(pages[0], 'good');
    await open(pages[1], 'bad');
    await once();
    expect(pages.map(({ response }) => response.writableEnded)).toEqual([false, true]);
    expect(pages[1].text()).not.toContain('jobs');
    close();
    expect(pages[0].response.writableEnded).toBe(true);
  });

  test('say that they are alive as long as the database answers (F4)', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      let isHanging = false;
      const { once, open } = scene({
        look: (tokens) =>
          isHanging
            ? new Promise(() => undefined)
            : Promise.resolve({ written: zero, tokens, sessions: [] }),
      });
      const one = page();
      await open(one);
      const signs = async () => {
        await setImmediate();
        return one.text().split('event: alive\ndata: null\n\n').length - 1;
      };
      expect(await signs()).toBe(1);
      for (let look = 0; look <= 30; look += 1) {
        await once();
        jest.advanceTimersByTime(2_000);
      }
      // One at the beginning, and each tenth second of the minute.
      expect(await signs()).toBe(7);
      isHanging = true;
      void once();
      jest.advanceTimersByTime(60_000);
      expect(await signs()).toBe(7);
    } finally {
      jest.useRealTimers();
    }
  });
});

test('one caller gets its own places only, and all together no more than there are', async () => {
  const take = createPlaces({ most: 3, mostEach: 2 });
  const isIn = async (caller: string) => (await take(caller)) !== undefined;
  const release = await take('a');
  const tries = ['a', 'a', 'b', 'c'];
  expect(await Promise.all(tries.map(isIn))).toEqual([true, false, true, false]);
  release?.();
  expect(await Promise.all(['c', 'a'].map(isIn))).toEqual([true, false]);
});

test('a request that waits gets the next place of its own caller, in order, and no place of others', async () => {
  const take = createPlaces({ most: 5, mostEach: 1, mostWaitingEach: 2 });
  const release = await take('a');
  const order: string[] = [];
  const waitAs = async (name: string) => {
    const left = await take('a');
    order.push(name);
    return left;
  };
  const [first, second] = [waitAs('first'), waitAs('second')];
  expect(await take('a')).toBeUndefined();
  const other = await take('b');
  expect(other).toBeDefined();
  other?.();
  expect(order).toEqual([]);
  release?.();
  const leave = await first;
  expect([order, typeof leave]).toEqual([['first'], 'function']);
  leave?.();
  (await second)?.();
  expect(order).toEqual(['first', 'second']);
  expect(await take('a')).toBeDefined();
});
