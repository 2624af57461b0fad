import { describe, expect, test } from '@jest/globals';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { examplePools } from '@paddock/testing/demand-rows';
import { examplePayload, type JsonObject } from '@paddock/testing/signed-delivery';
import { jobTimes } from './job-times.ts';

const INSTANTS = {
  created_at: '2026-01-01T10:00:00Z',
  started_at: '2026-01-01T10:00:30Z',
  completed_at: '2026-01-01T10:10:30Z',
};

const timesOf = (
  action: 'queued' | 'in_progress' | 'completed',
  outcome: Outcome,
  job: JsonObject = {},
) => {
  const changes = { labels: ['linux'], runner_name: 'pdk-1', ...INSTANTS, ...job };
  const parsed = parseDelivery(
    'workflow_job',
    examplePayload('workflow_job', action, {
      workflow_job: changes,
      repository: { private: true },
    }),
  );
  if (parsed.kind === 'malformed') throw new Error(parsed.problem);
  return jobTimes(examplePools(), parsed, outcome);
};

describe('the times of a job (H5)', () => {
  test.each([
    [
      'the delivery that moves it to running tells how long it waited',
      'in_progress',
      'job_marked_running',
      30,
      undefined,
    ],
    ['the one that ends it, how long it ran', 'completed', 'job_marked_completed', undefined, 600],
    ['a start that is the first delivery', 'in_progress', 'job_stored', 30, undefined],
    ['an end that is the first delivery', 'completed', 'job_stored', 30, 600],
  ] as const)('%s', (_what, action, outcome, queueSeconds, runSeconds) => {
    expect(timesOf(action, outcome)).toEqual({ pool: 'linux', queueSeconds, runSeconds });
  });

  test.each([
    ['a new job that waits', 'queued', 'job_stored', {}],
    ['old news', 'in_progress', 'job_already_exists', {}],
    ['facts that were filled in', 'completed', 'job_facts_added', {}],
    ['a job that no pool serves', 'completed', 'worker_bound', { labels: ['windows'] }],
    [
      'a job that was cancelled while it waited',
      'completed',
      'job_marked_completed',
      { runner_name: null },
    ],
  ] as [string, 'queued' | 'in_progress' | 'completed', Outcome, JsonObject][])(
    '%s gives none',
    (_what, action, outcome, job) => {
      expect(timesOf(action, outcome, job)).toBeUndefined();
    },
  );

  test('a start before the job was queued, by another clock, is no negative time', () => {
    expect(
      timesOf('in_progress', 'job_marked_running', { started_at: '2026-01-01T09:59:59Z' }),
    ).toMatchObject({ queueSeconds: 0 });
  });
});
