import { describe, expect, test } from '@jest/globals';
import type { PodEvent } from './events.ts';
import { isPulling } from './is-pulling.ts';

const event = (
  reason: string,
  second: number,
  { source = 'kubelet', container = 'runner' } = {},
): PodEvent => ({
  type: 'Normal',
  reason,
  message: '',
  count: 1,
  lastAt: new Date(1_700_000_000_000 + second * 1_000),
  source,
  container,
});
const sidecar = { container: 'sidecar' };

describe('an image that is being pulled (C8)', () => {
  test.each<[string, readonly PodEvent[], boolean]>([
    ['nothing is known', [], false],
    ['the first pull', [event('Pulling', 1)], true],
    ['a pull that failed', [event('Pulling', 1), event('Failed', 3)], false],
    ['a pull that failed within its second', [event('Pulling', 1), event('Failed', 1)], false],
    [
      'a pull that begins in the second in which a sidecar’s failed',
      [event('Failed', 3, sidecar), event('Pulling', 3)],
      true,
    ],
    [
      'a pull that failed in the second in which a sidecar’s began',
      [event('Pulling', 1), event('Failed', 3), event('Pulling', 3, sidecar)],
      true,
    ],
    [
      'a sidecar that fails after the pull began',
      [event('Pulling', 3), event('Failed', 4, sidecar)],
      false,
    ],
    [
      'the pause before the next',
      [event('Pulling', 1), event('Failed', 3), event('BackOff', 14)],
      false,
    ],
    [
      'the second pull, of a large image',
      [event('Failed', 3), event('BackOff', 14), event('Pulling', 30)],
      true,
    ],
    ['it has come, and the container starts', [event('Failed', 3), event('Pulled', 90)], true],
    [
      'a sentence of another',
      [event('Failed', 3), event('Pulling', 30, { source: 'image-prefetcher' })],
      false,
    ],
  ])('%s', (_what, events, expected) => {
    expect(isPulling(events)).toBe(expected);
  });
});
