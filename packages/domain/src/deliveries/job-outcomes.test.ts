import { describe, expect, test } from '@jest/globals';
import { type JobResult, jobOutcomes } from './job-outcomes.ts';

const place = { pool: 'small', image: 'runner:1', scopeRepoId: 0 };
const ignored = { ignored: 'ignored_no_label' } as const;

describe('jobOutcomes', () => {
  test.each<[string, JobResult, Parameters<typeof jobOutcomes>[1], string[]]>([
    ['a new job', { before: undefined, changed: true, place }, ['pending'], ['job_stored']],
    [
      'a job first seen at its end',
      { before: undefined, changed: true, place },
      ['completed'],
      ['job_stored'],
    ],
    ['a start', { before: 'pending', changed: true, place }, ['running'], ['job_marked_running']],
    [
      'an end',
      { before: 'running', changed: true, place },
      ['completed'],
      ['job_marked_completed'],
    ],
    [
      'an end without a start',
      { before: 'pending', changed: true, place },
      ['completed'],
      ['job_marked_completed'],
    ],
    [
      'a repetition',
      { before: 'running', changed: false, place },
      ['running'],
      ['job_already_exists'],
    ],
    [
      'a late queued',
      { before: 'completed', changed: false, place },
      ['pending'],
      ['job_already_exists'],
    ],
    [
      'a whole life in one batch',
      { before: undefined, changed: true, place },
      ['pending', 'running', 'completed'],
      ['job_stored', 'job_marked_running', 'job_marked_completed'],
    ],
    [
      'a batch out of order',
      { before: undefined, changed: true, place },
      ['completed', 'pending'],
      ['job_stored', 'job_already_exists'],
    ],
    [
      'a doubled start',
      { before: 'pending', changed: true, place },
      ['running', 'running'],
      ['job_marked_running', 'job_already_exists'],
    ],
    [
      'the end of a job that Paddock failed',
      { before: 'failed', changed: true, place },
      ['pending', 'completed'],
      ['job_already_exists', 'job_facts_added'],
    ],
    [
      'a runner learnt late',
      { before: 'completed', changed: true, place },
      ['running'],
      ['job_facts_added'],
    ],
    [
      'no pool',
      { before: undefined, changed: false, place: ignored },
      ['pending', 'completed'],
      ['ignored_no_label', 'ignored_no_label'],
    ],
    [
      'no pool, but a worker of ours',
      { before: undefined, changed: true, place: ignored },
      ['running', 'completed'],
      ['worker_bound', 'job_marked_completed'],
    ],
    [
      'a worker whose pool does not serve such jobs',
      { before: undefined, changed: true, place: ignored, isMisused: true },
      ['running', 'completed'],
      ['worker_misused', 'job_marked_completed'],
    ],
    [
      'the same of a job that waited in another pool',
      { before: 'pending', changed: true, place, isMisused: true },
      ['pending', 'running'],
      ['job_already_exists', 'worker_misused'],
    ],
    [
      'a pool that does not serve a job whose worker was found, before it has begun',
      { before: undefined, changed: true, place: ignored, isMisused: true },
      ['pending'],
      ['worker_bound'],
    ],
    [
      'no pool any more, and nothing new',
      { before: 'running', changed: false, place: ignored },
      ['running'],
      ['job_already_exists'],
    ],
    [
      'a later status that did not count',
      { before: 'pending', changed: false, place },
      ['completed'],
      ['job_already_exists'],
    ],
    [
      'no pool any more, but a row',
      { before: 'running', changed: true, place: ignored },
      ['completed'],
      ['job_marked_completed'],
    ],
  ])('%s', (_what, result, arrived, expected) => {
    expect(jobOutcomes(result, arrived)).toEqual(expected);
  });
});
