import { describe, expect, test } from '@jest/globals';
import { valuesOf } from '@paddock/runtime/rules';
import { readSettings } from '@paddock/runtime/settings';
import { executorRules, executorSettings, scaledSlots } from './executor-settings.ts';
import { done } from './outcome.ts';
import { queueRules } from './rules.ts';

describe('executorSettings', () => {
  test('and rules have the numbers of the requirements (D3, D5, D13, F2)', () => {
    const { values, problems } = readSettings(executorSettings, {});
    expect(problems).toEqual([]);
    expect(executorRules({ ...values, ...valuesOf(queueRules), drainMs: 30_000 })).toEqual({
      claimMs: 15_000,
      pollMs: 5_000,
      timeoutMs: 300_000,
      backoff: { firstMs: 30_000, longestMs: 3_600_000 },
      keep: { okMs: 86_400_000, failedMs: 1_209_600_000 },
      concurrencyPercent: 100,
      drainMs: 24_000,
    });
  });

  test.each(['-1', '1.5', 'many', '1001', '0x10'])('refuse a concurrency of %s (D7)', (value) => {
    const { problems } = readSettings(executorSettings, { PADDOCK_TASK_CONCURRENCY: value });
    expect(problems).toEqual([expect.stringContaining('PADDOCK_TASK_CONCURRENCY')]);
  });
});

describe('scaledSlots', () => {
  const kinds = {
    many: { handler: () => Promise.resolve(done()), slots: 16 },
    few: { handler: () => Promise.resolve(done()), slots: 2 },
  };

  test.each([
    [100, { many: 16, few: 2 }],
    [200, { many: 32, few: 4 }],
    [10, { many: 2, few: 1 }],
    [0, { many: 0, few: 0 }],
  ])('at %i percent, and never none of a kind unless none at all (D7)', (percent, slots) => {
    expect(scaledSlots(kinds, percent)).toEqual(slots);
  });
});
