import { expect, test } from '@jest/globals';
import { createMetrics } from '@paddock/runtime/metrics';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { createDeliveryEvents } from './delivery-events.ts';

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
