import { expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { metricSum } from '@paddock/testing/metric-sum';
import { SILENT_LOG } from '@paddock/testing/silent-log';
import { createEvents, type ReconcilerEvents } from './events.ts';

const failure = { kind: 'unavailable', operation: 'GET /app', message: '502' } as const;

/** Each event as a sweep reports it; the tests of the sweeps check that they do. */
test.each<[string, number, (events: ReconcilerEvents) => void]>([
  [
    'paddock_redelivery_failures_total{step="request"}',
    1,
    (events) => events.redeliveryRefused(7, 'guid', failure),
  ],
  [
    'paddock_redelivery_failures_total{step="list"}',
    1,
    (events) => events.listingFailed(7, failure),
  ],
  ['paddock_redelivery_given_up_total', 3, (events) => events.redeliveriesGivenUp(7, 3)],
  [
    'paddock_deliveries_without_row_total',
    2,
    (events) => events.deliveredWithoutRow(7, ['one', 'two'], 0),
  ],
  ['paddock_recovery_total{kind="redelivered"}', 1, (events) => events.redelivered(7, 'guid')],
  [
    'paddock_schedule_ticks_total{schedule="mow"}',
    1,
    (events) => events.tickTaken('mow', new Date(), 4),
  ],
  [
    'paddock_schedule_missed_ticks_total{schedule="mow"}',
    4,
    (events) => events.tickTaken('mow', new Date(), 4),
  ],
  [
    'paddock_jobs_looked_up_total{verdict="requeued"}',
    1,
    (events) => events.jobsLookedUp([{ jobId: 1, verdict: { kind: 'requeued' } } as never]),
  ],
  [
    'paddock_sweep_failures_total{sweep="check-apps"}',
    1,
    (events) => events.appNotChecked(7, failure),
  ],
  [
    'paddock_sweep_failures_total{sweep="check-workers"}',
    1,
    (events) => events.runnersMissing('acme', 3),
  ],
  [
    'paddock_sweep_over_cap_total{sweep="remove-stray-registrations"}',
    1,
    (events) => events.tooManyStrays(30, 20),
  ],
  [
    'paddock_worker_stops_requested_total{reason="idle"}',
    2,
    (events) => events.stopsRequested([1, 2].map((n) => ({ podName: `pdk-${n}`, reason: 'idle' }))),
  ],
])('%s counts %i (H5)', async (name, count, tell) => {
  const metrics = createMetrics();
  tell(createEvents(SILENT_LOG, metrics));
  expect(metricSum(await metrics.registry.metrics(), name)).toBe(count);
});
