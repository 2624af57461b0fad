import { expect, jest, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { metricSum } from '@paddock/testing/metric-sum';
import { SILENT_LOG } from '@paddock/testing/silent-log';
import { createEvents } from './events.ts';
import type { Matched } from './matching/match.ts';

const counted = (event: string) => `paddock_events_total{event="${event}"}`;

test('says and counts a pass of the matcher by its outcome and its duration (H5)', async () => {
  const metrics = createMetrics();
  const info = jest.fn();
  const worker = {
    podName: 'pdk-1',
    pool: 'linux',
    demandKey: 1,
    madeForJobId: null,
    deliveryGuid: null,
  };
  const nothing: Matched = {
    reserved: [],
    ended: [],
    lacking: 0,
    stopped: [],
    takenBack: [],
    unserved: [],
    hasMore: false,
    nextPauseEndMs: null,
    away: [],
  };
  const events = createEvents({ ...SILENT_LOG, info }, metrics);
  events.matched(nothing, 0.25);
  events.matched(
    {
      ...nothing,
      reserved: [worker, worker],
      stopped: [worker, worker, worker],
      unserved: [
        { pool: 'gpu', entityName: 'acme', pauses: 1, demandKey: 1, pausedUntil: new Date() },
      ],
    },
    0.5,
  );
  const page = await metrics.registry.metrics();
  expect(metricSum(page, 'paddock_match_duration_seconds_sum')).toBe(0.75);
  expect(metricSum(page, counted('demandMatched'))).toBe(1);
  expect(metricSum(page, counted('keyUnserved'))).toBe(1);
  expect(info.mock.calls).toEqual([
    ['demand matched', { count: 5, reserved: 2, ended: 0, stopped: 3, takenBack: 0 }],
  ]);
});

test('counts pods whose state cannot be stored, and lists that need a second look (H5)', async () => {
  const metrics = createMetrics();
  const events = createEvents(SILENT_LOG, metrics);
  events.podNotRecorded({ name: 'pdk-1', namespace: 'runners' } as never, new Error('too long'));
  const list = { namespace: 'runners', known: 3_000, before: 0, unconfirmed: 0, gone: 0 };
  events.absenceJudged({ ...list, unconfirmed: 3_000 });
  events.absenceJudged({ ...list, gone: 1 });
  events.absenceJudged({ ...list, before: 3_000, gone: 1 });
  const page = await metrics.registry.metrics();
  expect(metricSum(page, counted('podNotRecorded'))).toBe(1);
  expect(metricSum(page, counted('podListUnconfirmed'))).toBe(1);
  expect(metricSum(page, counted('podsThereAgain'))).toBe(1);
});
