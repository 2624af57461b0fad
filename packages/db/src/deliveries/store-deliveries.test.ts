import { describe, expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { ofJob } from '@paddock/testing/deliveries-to-record';
import { jobTimes } from './store-deliveries.ts';

describe('the times of a job (H5)', () => {
  test.each([
    ['in_progress', 'job_marked_running', 30, undefined],
    ['completed', 'job_marked_completed', undefined, 600],
    // The first delivery of the job.
    ['in_progress', 'job_stored', 30, undefined],
    ['completed', 'job_stored', 30, 600],
  ] as const)('%s, %s: how long it waited and ran', (action, outcome, queueSeconds, runSeconds) => {
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
  });
});
