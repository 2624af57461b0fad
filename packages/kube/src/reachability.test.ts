import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { KubeFailure } from './errors.ts';
import { createReachability } from './reachability.ts';

const AWAY: KubeFailure = { kind: 'network', message: 'no connection' };

let told: unknown[];
let at: number;
let note: ReturnType<typeof createReachability>;
beforeEach(() => {
  jest.useFakeTimers();
  told = [];
  at = 0;
  note = createReachability(
    { away: ({ message }) => told.push(message), back: (outage) => told.push(outage) },
    () => at,
  );
});
afterEach(() => void jest.useRealTimers());
/** No timer ends meanwhile: a call that comes late may be the first to look. */
const pass = (ms: number) => (at += ms);

describe('an API server that is away', () => {
  test('makes one line, and one when it is back: with its length and its cost', () => {
    for (let call = 0; call < 3_000; call += 1) {
      note(AWAY);
      pass(10);
    }
    note();
    pass(5_000);
    note();
    note();
    expect(told).toEqual(['no connection', { ms: 30_000, failedCalls: 3_000 }]);
  });

  test('that answers every other call is one outage', () => {
    for (let call = 0; call < 10; call += 1) {
      note(AWAY);
      pass(1_000);
      note();
      pass(1_000);
    }
    pass(4_000);
    note();
    expect(told).toEqual(['no connection', { ms: 19_000, failedCalls: 10 }]);
  });

  test('is back after one answer, though no call follows', () => {
    note(AWAY);
    pass(1_000);
    note();
    expect(told).toEqual(['no connection']);
    pass(4_000);
    jest.runAllTimers();
    expect(told).toEqual(['no connection', { ms: 1_000, failedCalls: 1 }]);
  });

  test('and that fails after an answer is not back', () => {
    note(AWAY);
    note();
    pass(1_000);
    note(AWAY);
    pass(5_000);
    jest.runAllTimers();
    expect(told).toEqual(['no connection']);
  });

  test('and goes again makes another line', () => {
    note(AWAY);
    pass(6_000);
    note();
    note(AWAY);
    expect(told).toEqual(['no connection', { ms: 6_000, failedCalls: 1 }, 'no connection']);
  });

  test.each([
    ['not_found', undefined],
    ['forbidden', undefined],
    ['too_many_requests', undefined],
    ['unavailable', 'InternalError'],
  ] as const)('is not one that answers with %s %s', (kind, reason) => {
    note({ kind, message: 'an answer', ...(reason === undefined ? {} : { reason }) });
    expect(told).toEqual([]);
  });
});
