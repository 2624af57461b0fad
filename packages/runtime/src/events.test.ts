import { expect, jest, test } from '@jest/globals';
import { line, listed, tellEvents } from './events.ts';
import { createMetrics } from './metrics.ts';

const TABLE = {
  lost: (names: readonly string[]) => line.warn('lost some', listed(names)),
  failed: (error: unknown, isKnown: boolean) =>
    isKnown ? undefined : line.error('failed', { error }),
};

function tell() {
  const metrics = createMetrics();
  const log = { error: jest.fn(), warn: jest.fn(), info: jest.fn(), debug: jest.fn() };
  const page = async () =>
    (await metrics.registry.metrics()).split('\n').filter((row) => row.startsWith('paddock_'));
  return { log, page, events: tellEvents(TABLE, { log, metrics }) };
}

test('an event is a line of the log and one more of its name (H1, H5)', async () => {
  const { log, page, events } = tell();
  const names = Array.from({ length: 12 }, (_, index) => `pod-${index}`);
  events.lost(names);
  expect(log.warn.mock.calls).toEqual([['lost some', { count: 12, some: names.slice(0, 10) }]]);
  expect(await page()).toEqual([
    'paddock_events_total{event="lost"} 1',
    'paddock_events_total{event="failed"} 0',
  ]);
});
