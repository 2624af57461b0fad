import type { jest } from '@jest/globals';

type FakeTimersConfig = Extract<
  Parameters<typeof jest.useFakeTimers>[0],
  { readonly doNotFake?: unknown }
>;

/** Only the date is moved: the calls in between are real. */
export const EVERY_TIMER: FakeTimersConfig['doNotFake'] & object = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'nextTick',
  'queueMicrotask',
  'hrtime',
  'performance',
];
