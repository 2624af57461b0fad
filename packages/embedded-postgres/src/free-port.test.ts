import { createServer } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findFreePort } from './free-port.ts';

describe('findFreePort', () => {
  const listener = createServer();
  let taken: number;

  beforeEach(async () => {
    taken = await findFreePort();
    await once(listener.listen(taken, '127.0.0.1'), 'listening');
  });

  afterEach(async () => {
    await once(listener.close(), 'close');
  });

  test('tries another port while the one it picked is taken', async () => {
    const free = await findFreePort();
    const picks = [taken, taken, free];
    expect(await findFreePort(() => picks.shift() ?? 0)).toBe(free);
    expect(picks).toEqual([]);
  });

  test('throws when every port is taken', async () => {
    await expect(findFreePort(() => taken)).rejects.toThrow('No free TCP port');
  });
});
