import { expect, test } from '@jest/globals';
import { isOldDemand, OLD_AFTER_MS } from './old-delivery.ts';

const NOW = Date.parse('2026-03-02T12:00:00Z');

test.each([
  ['waits since a moment more than a day', 'pending', '2026-03-01T11:59:59.999Z', true],
  ['waits since a day', 'pending', '2026-03-01T12:00:00Z', false],
  ['waits since now', 'pending', '2026-03-02T12:00:00Z', false],
  ['runs, whenever it was queued', 'running', '2026-01-01T00:00:00Z', false],
  ['does not say since when it waits', 'pending', null, false],
] as const)('a statement of a job that %s', (_, status, queuedAt, isOld) => {
  expect(isOldDemand({ status, queuedAt }, NOW)).toBe(isOld);
});

test('GitHub drops a job that no runner has taken for a day', () => {
  expect(OLD_AFTER_MS).toBe(24 * 60 * 60 * 1000);
});
