import { expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { metricSum } from '@paddock/testing/metric-sum';
import { SILENT_LOG } from '@paddock/testing/silent-log';
import { createEvents } from './events.ts';
import type { Matched } from './matching/match.ts';

test('counts a pass of the matcher by its outcome and its duration (H5)', async () => {
  const metrics = createMetrics();
  const worker = {
    podName: 'pdk-1',
    pool: 'linux',
    demandKey: 1,
    madeForJobId: null,
    deliveryGuid: null,
  };
  const matched: Matched = {
    reserved: [worker, worker],
    ended: [],
    lacking: 0,
    stopped: [worker, worker, worker],
    takenBack: [],
    unserved: [
      { pool: 'gpu', entityName: 'acme', pauses: 1, demandKey: 1, pausedUntil: new Date() },
    ],
    hasMore: false,
    nextPauseEndMs: null,
    away: [],
  };
  createEvents(SILENT_LOG, metrics).matched(matched, 0.5);
  const page = await metrics.registry.metrics();
  const counted = [
    'paddock_workers_reserved_total{pool="linux"}',
    'paddock_spare_workers_stopped_total',
    'paddock_keys_unserved_total{pool="gpu"}',
    'paddock_match_duration_seconds_sum',
  ];
  expect(counted.map((name) => metricSum(page, name))).toEqual([2, 3, 1, 0.5]);
});

test('counts pods whose state cannot be stored (H5)', async () => {
  const metrics = createMetrics();
  const events = createEvents(SILENT_LOG, metrics);
  events.podNotRecorded({ name: 'pdk-1', namespace: 'runners' } as never, new Error('too long'));
  events.absenceJudged('runners', { known: 3_000, before: 0, unconfirmed: 3_000, gone: 0 });
  events.absenceJudged('runners', { known: 3_000, before: 0, unconfirmed: 0, gone: 1 });
  const page = await metrics.registry.metrics();
  expect(metricSum(page, 'paddock_pods_not_recorded_total{namespace="runners"}')).toBe(1);
  expect(metricSum(page, 'paddock_pod_lists_unconfirmed_total{namespace="runners"}')).toBe(1);
});
