import { describe, expect, jest, test } from '@jest/globals';
import type { Changes } from '@paddock/api/sessions/read-changes';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createPlaces } from '../places.ts';
import { createChangeStreams } from './changes.ts';

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

describe('changes', () => {
  const zero = { jobs: 0, workers: 0 } as Changes['written'];

  test('cost one look for any number of pages, and none without a page', async () => {
    const looks: (readonly string[])[] = [];
    let lists = 0;
    const streams = createChangeStreams({
      look(tokens) {
        looks.push(tokens);
        return Promise.resolve({ written: { ...zero, jobs: looks.length }, tokens, sessions: [] });
      },
      listPools: () => Promise.resolve({ items: [], n: ++lists }),
      lookEveryMs: 2_000,
      onFirst: () => undefined,
    });
    await streams.once();
    expect(looks).toEqual([]);

    const pages = Array.from({ length: 30 }, () => page());
    for (const [n, { response }] of pages.entries())
      streams.open({ ownerId: 'o', token: `t${n % 2}`, session: undefined, wantsPools: n < 20 })?.(
        response,
      );
    await streams.once();
    await streams.once();
    await setImmediate();
    expect([looks, lists]).toEqual([
      [
        ['t0', 't1'],
        ['t0', 't1'],
      ],
      2,
    ]);
    expect(pages[0]?.text()).toMatch(
      /"jobs","workers"\][^]*event: pools[^]*\["jobs"\][^]*event: pools\ndata: \{"items":\[\],"n":2\}/,
    );
    expect(pages[29]?.text()).not.toContain('pools');
  });

  test('are kept for no page that has stopped reading', async () => {
    let jobs = 0;
    const streams = createChangeStreams({
      look: (tokens) =>
        Promise.resolve({ written: { ...zero, jobs: ++jobs }, tokens: [...tokens], sessions: [] }),
      listPools: () => Promise.resolve('x'.repeat(600_000)),
      lookEveryMs: 2_000,
      onFirst: () => undefined,
    });
    const pages = [page(), page({ isStuck: true })];
    for (const { response } of pages)
      streams.open({ ownerId: 'o', token: 't', session: undefined, wantsPools: true })?.(response);
    for (let look = 0; look < 3; look += 1) {
      await streams.once();
      await setImmediate();
    }
    expect(pages.map(({ response }) => response.destroyed)).toEqual([false, true]);
  });

  test('end with the token, and with the service', async () => {
    const streams = createChangeStreams({
      look: () => Promise.resolve({ written: zero, tokens: ['good'], sessions: [] }),
      listPools: () => Promise.resolve([]),
      lookEveryMs: 2_000,
      onFirst: () => undefined,
    });
    const [good, bad] = [page(), page()];
    streams.open({ ownerId: 'good', token: 'good', session: undefined, wantsPools: false })?.(
      good.response,
    );
    streams.open({ ownerId: 'bad', token: 'bad', session: undefined, wantsPools: false })?.(
      bad.response,
    );
    await streams.once();
    expect([good, bad].map(({ response }) => response.writableEnded)).toEqual([false, true]);
    expect(bad.text()).not.toContain('jobs');
    streams.close();
    expect(good.response.writableEnded).toBe(true);
  });

  test('say that they are alive as long as the database answers, and promise how often (F4)', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      let isHanging = false;
      const streams = createChangeStreams({
        look: (tokens) =>
          isHanging
            ? new Promise(() => undefined)
            : Promise.resolve({ written: zero, tokens, sessions: [] }),
        listPools: () => Promise.resolve([]),
        lookEveryMs: 2_000,
        onFirst: () => undefined,
      });
      const { response, text } = page();
      streams.open({ ownerId: 'o', token: 't', session: undefined, wantsPools: false })?.(response);
      const signs = () => text().split('event: alive\ndata: 10000\n\n').length - 1;
      await setImmediate();
      expect(signs()).toBe(1);
      for (let look = 0; look <= 30; look += 1) {
        await streams.once();
        jest.advanceTimersByTime(2_000);
      }
      await setImmediate();
      // One at the beginning, and each tenth second of the minute.
      expect(signs()).toBe(7);
      isHanging = true;
      void streams.once();
      jest.advanceTimersByTime(60_000);
      await setImmediate();
      expect(signs()).toBe(7);
    } finally {
      jest.useRealTimers();
    }
  });
});

test('one caller gets its own places only, and all together no more than there are', () => {
  const places = createPlaces({ most: 3, mostEach: 2 });
  const release = places.take('a');
  expect(places.take('a')).toBeDefined();
  expect(places.take('a')).toBeUndefined();
  expect(places.take('b')).toBeDefined();
  expect(places.take('c')).toBeUndefined();
  release?.();
  expect(places.take('c')).toBeDefined();
  expect(places.take('a')).toBeUndefined();
});

test('whoever waits gets the places of the same caller, in order, and others keep theirs', async () => {
  const places = createPlaces({ most: 5, mostEach: 1, mostWaitingEach: 2 });
  const release = places.take('a');
  const order: string[] = [];
  const waitAs = async (name: string) => {
    const left = await places.await('a', 60_000);
    order.push(name);
    return left;
  };
  const [first, second] = [waitAs('first'), waitAs('second')];
  expect(await places.await('a', 60_000)).toBeUndefined();
  const other = places.take('b');
  expect(other).toBeDefined();
  other?.();
  expect(order).toEqual([]);
  release?.();
  const leave = await first;
  expect(order).toEqual(['first']);
  expect(places.take('a')).toBeUndefined();
  leave?.();
  (await second)?.();
  expect(order).toEqual(['first', 'second']);
  expect(places.take('a')).toBeDefined();
});
