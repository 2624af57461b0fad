import { describe, expect, test } from '@jest/globals';
import { createBodyBudget } from './body-budget.ts';

const KB = 1_024;
const MB = 1_024 * KB;

/** Room for 64 MB with bodies of up to 16 MB. */
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
  test('bodies of all sizes share it, and none has more than there is (B6)', () => {
    const { budget, cut, send } = start();
    const large = ['one', 'two', 'three'].map((name) => send(name, 16 * MB));
    for (let index = 0; index < 64; index++)
      expect(send(`ordinary ${index}`, 256 * KB)).toBeDefined();
    expect(send('one too many', 1)).toBeUndefined();
    expect(budget.heldBytes).toBe(64 * MB);
    expect(cut).toEqual([]);
    large[0]?.release();
    large[0]?.release();
    expect(budget).toMatchObject({ heldBytes: 48 * MB, requests: 67 });
    expect(large[0]?.hold(1)).toBe(false);
    expect(send('three', 15 * MB)).toBeDefined();
  });

  test('the body that has been arriving for longest is cut off first, and only without free room (B6)', () => {
    const { budget, clock, cut, send } = start();
    send('oldest', 15 * MB);
    clock.now = 100;
    const older = send('older', 15 * MB);
    clock.now = 1_000;
    expect(older?.hold(MB)).toBe(true);
    for (const name of ['young', 'younger']) expect(send(name, 16 * MB)).toBeDefined();
    expect(cut).toEqual([]);
    expect(send('next', 16 * MB)).toBeDefined();
    expect(cut).toEqual(['oldest']);
    expect(send('after it', 16 * MB)).toBeDefined();
    expect(cut).toEqual(['oldest', 'older']);
    // All others have just begun.
    expect(send('one too many', 16 * MB)).toBeUndefined();
    expect(cut).toEqual(['oldest', 'older']);
    expect(budget.heldBytes).toBe(64 * MB);
  });

  test('the oldest is not given room that it lacks: it is cut off itself (B6)', () => {
    const { clock, cut, send } = start();
    const oldest = send('oldest', 16 * MB - 10);
    for (const name of ['one', 'two', 'three']) send(name, 16 * MB);
    send('last', 10);
    clock.now = 1_000;
    expect(oldest?.hold(10)).toBe(false);
    expect(cut).toEqual(['oldest']);
    expect(send('small', 10)).toBeDefined();
  });

  test('one that is here whole keeps its room, however long it waits to be stored (B6)', () => {
    const { clock, cut, send } = start();
    for (const name of ['one', 'two', 'three', 'four']) send(name, 16 * MB)?.arrived();
    clock.now = 10_000;
    expect(send('five', 1)).toBeUndefined();
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
});
