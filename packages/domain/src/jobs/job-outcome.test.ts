import { expect, test } from '@jest/globals';
import type { JobRow } from './merge-statement.ts';
import { jobOutcome, type Merged } from './job-outcome.ts';

const place = { pool: 'small', image: 'runner:1', scopeRepoId: 0 };
const ignored = { ignored: 'ignored_no_label' } as const;
const to = (status: JobRow['status']) => ({ status });
const running = to('running');
const none = undefined;

test.each<[string, Partial<Merged>, string]>([
  ['a new job', { before: none, after: to('pending') }, 'job_stored'],
  ['a job first seen at its end', { before: none, after: to('completed') }, 'job_stored'],
  ['a start', { before: to('pending'), after: running }, 'job_marked_running'],
  ['an end', { before: running, after: to('completed') }, 'job_marked_completed'],
  [
    'an end without a start',
    { before: to('pending'), after: to('completed') },
    'job_marked_completed',
  ],
  ['a repetition', { before: running, after: running }, 'job_already_exists'],
  [
    'the end of a job that Paddock failed',
    { before: to('failed'), after: to('failed') },
    'job_facts_added',
  ],
  ['a runner learnt late', { before: to('completed'), after: to('completed') }, 'job_facts_added'],
  ['no pool', { before: none, after: none, place: ignored }, 'ignored_no_label'],
  [
    'no pool, but one of our workers',
    { before: none, after: running, place: ignored },
    'worker_bound',
  ],
  [
    'no pool now, but a row',
    { before: running, after: to('completed'), place: ignored },
    'job_marked_completed',
  ],
  [
    'no pool now, and nothing new',
    { before: running, after: running, place: ignored },
    'job_already_exists',
  ],
  [
    'a worker whose pool does not serve it',
    { before: none, after: running, place: ignored, isMisused: true },
    'worker_misused',
  ],
  [
    'the same of a job that waited in another pool',
    { before: to('pending'), after: running, isMisused: true },
    'worker_misused',
  ],
])('%s (B10)', (_what, merged, expected) => {
  const given = { before: none, after: none, place, isMisused: false };
  expect(jobOutcome({ ...given, ...merged })).toBe(expected);
});
