import { describe, expect, test } from '@jest/globals';
import { createBodyBudget } from './body-budget.ts';

const KB = 1_024;
const MB = 1_024 * KB;

/** Room for 64 MB with bodies of up to 16 MB: two large places, and 32 MB for ordinary bodies. */
const start = ({ maxRequests = 1_000 } = {}) => {
  const clock = { now: 0 };
  const budget = createBodyBudget(
    { maxBodyBytes: 16 * MB, maxHeldBytes: 64 * MB, maxRequests },
    () => clock.now,
  );
  const cut: string[] = [];
  /** A body whose first `bytes` are here; undefined if it was refused. */
  const send = (name: string, bytes: number) => {
    const claim = budget.admit(() => {
      cut.push(name);
      claim?.release();
    });
    return claim?.hold(bytes) === true ? claim : undefined;
  };
  return { budget, clock, cut, send };
};

describe('the room for bodies', () => {
  test('large bodies have a few places, and use no room of ordinary ones (B6)', () => {
    const { budget, cut, send } = start();
    const large = ['one', 'two'].map((name) => send(name, 15 * MB));
    expect(send('three', 15 * MB)).toBeUndefined();
    for (let index = 0; index < 128; index++)
      expect(send(`ordinary ${index}`, 256 * KB)).toBeDefined();
    expect(send('one too many', 1)).toBeUndefined();
    expect(budget.heldBytes).toBe(62 * MB);
    expect(cut).toEqual([]);
    large[0]?.release();
    expect(send('three', 15 * MB)).toBeDefined();
  });

  test('an ordinary body that grows takes a large place, or is refused (B6)', () => {
    const { budget, send } = start();
    const growing = [1, 2, 3].map((index) => send(`growing ${index}`, 200 * KB));
    expect(growing.map((claim) => claim?.hold(100 * KB))).toEqual([true, true, false]);
    growing[2]?.release();
    growing[2]?.release();
    expect(budget).toMatchObject({ heldBytes: 600 * KB, requests: 2 });
    expect(send('ordinary', 32 * MB)).toBeUndefined();
  });

  test('a trickling body is cut off first, and only without free room (B6)', () => {
    const { budget, clock, cut, send } = start();
    const trickling = send('trickling', 15 * MB);
    const steady = send('steady', 15 * MB);
    for (clock.now = 100; clock.now <= 1_000; clock.now += 100) {
      expect(trickling?.hold(1)).toBe(true);
      expect(steady?.hold(64 * KB)).toBe(true);
    }
    expect(cut).toEqual([]);
    expect(send('next', 1 * MB)).toBeDefined();
    expect(cut).toEqual(['trickling']);
    expect(send('one too many', 1 * MB)).toBeUndefined();
    expect(budget.heldBytes).toBe(16 * MB + 640 * KB);
  });

  test('a body that trickles is not given room that it lacks: it is cut off itself (B6)', () => {
    const { clock, cut, send } = start();
    const slowest = send('slowest', 256 * KB - 10);
    for (let index = 1; index < 128; index++) send(`ordinary ${index}`, 256 * KB);
    send('last', 10);
    clock.now = 1_000;
    expect(slowest?.hold(10)).toBe(false);
    expect(cut).toEqual(['slowest']);
    expect(send('small', 10)).toBeDefined();
  });

  test('one that is here whole keeps its room, however long it waits to be stored (B6)', () => {
    const { clock, cut, send } = start();
    for (const name of ['one', 'two']) send(name, 15 * MB)?.arrived();
    clock.now = 10_000;
    expect(send('three', 1 * MB)).toBeUndefined();
    expect(cut).toEqual([]);
  });

  test('requests that send nothing make room for others too (B6)', () => {
    const { budget, clock, cut, send } = start({ maxRequests: 3 });
    for (const name of ['one', 'two', 'three']) send(name, 1);
    expect(send('too early', 1)).toBeUndefined();
    clock.now = 250;
    expect(send('four', 1)).toBeDefined();
    expect(cut).toEqual(['one']);
    expect(budget.requests).toBe(3);
  });

  test('where no body can be large, ordinary ones share all there is (B6)', () => {
    const budget = createBodyBudget({ maxBodyBytes: 100 * KB, maxHeldBytes: MB, maxRequests: 100 });
    for (let index = 0; index < 10; index++)
      expect(budget.admit(() => undefined)?.hold(100 * KB)).toBe(true);
  });
});
