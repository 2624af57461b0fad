import { describe, expect, test } from '@jest/globals';
import { waitFor } from './wait-for.ts';

describe('waitFor', () => {
  test('polls until the probe has an answer, and returns it', async () => {
    const answers = [undefined, false as const, 0];
    expect(await waitFor('a number', () => Promise.resolve(answers.shift()))).toBe(0);
    expect(answers).toEqual([]);
  });

  test('after the limit, names what it waited for', async () => {
    await expect(
      waitFor('a pod that never comes', () => undefined, { timeoutMs: 20 }),
    ).rejects.toThrow('Waited 20 ms in vain for a pod that never comes.');
  });

  test('passes on the error of a probe at once', async () => {
    await expect(waitFor('nothing', () => Promise.reject(new Error('refused')))).rejects.toThrow(
      'refused',
    );
  });
});
