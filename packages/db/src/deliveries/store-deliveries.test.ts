import { expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { examplePools } from '@paddock/testing/demand-rows';
import { ofJob } from '@paddock/testing/deliveries-to-record';
import { createDeliveryEvents } from './delivery-events.ts';
import { jobTimes } from './store-deliveries.ts';

test.each([
  ['in_progress', 'job_marked_running', 30, undefined],
  ['completed', 'job_marked_completed', undefined, 600],
  // The first delivery of the job.
  ['in_progress', 'job_stored', 30, undefined],
  ['completed', 'job_stored', 30, 600],
] as const)(
  'how long a job waited and ran: %s, %s (H5)',
  (action, outcome, queueSeconds, runSeconds) => {
    const { parsed } = ofJob(action, 900, {
      labels: ['linux'],
      job: {
        created_at: '2026-01-01T10:00:00Z',
        started_at: '2026-01-01T10:00:30Z',
        completed_at: '2026-01-01T10:10:30Z',
      },
    });
    expect(jobTimes(examplePools(), parsed, outcome)).toEqual({
      jobId: expect.any(Number),
      pool: 'linux',
      queueSeconds,
      runSeconds,
    });
  },
);

test('late jobs count as late, and the log says so, where nobody can read what held them (H5)', async () => {
  const metrics = createMetrics(SILENT_LOG);
  const events = createDeliveryEvents({
    log: SILENT_LOG,
    metrics,
    lateAfterSeconds: 60,
    findHeld: () => Promise.reject(new Error('permission denied')),
  });
  await events.jobsMoved([{ jobId: 1, pool: 'a', queueSeconds: 61, runSeconds: undefined }]);
  const shown = await metrics.registry.metrics();
  expect(shown).toContain('paddock_events_total{event="heldJobsNotRead"} 1');
  expect(shown).toContain('paddock_job_queue_seconds_count{pool="a",held="no"} 1');
});
