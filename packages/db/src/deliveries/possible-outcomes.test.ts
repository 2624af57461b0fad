import { expect, test } from '@jest/globals';
import { possibleOutcomes } from './possible-outcomes.ts';

const place = { pool: 'small', image: 'runner:1', scopeRepoId: 0 };
const ignored = { ignored: 'ignored_no_label' } as const;

test('each delivery has a series of outcomes, by its job’s status before and by whether its row changed (B10)', () => {
  const batch = [
    { jobId: 1, status: 'pending', place },
    { jobId: 2, status: 'pending', place: ignored },
    { jobId: 3, status: 'pending', place },
    { jobId: 1, status: 'running', place },
  ] as const;
  const { choices, outcomes } = possibleOutcomes(batch);
  // No row, pending, running, completed, failed; each unchanged and changed.
  const same = 'job_already_exists';
  expect(choices.map((begin) => outcomes.slice(begin - 1, begin + 9))).toEqual([
    [same, 'job_stored', same, same, same, same, same, same, same, same],
    [
      'ignored_no_label',
      'worker_bound',
      same,
      'job_facts_added',
      same,
      'job_facts_added',
      same,
      'job_facts_added',
      same,
      'job_facts_added',
    ],
    [
      same,
      'job_stored',
      same,
      'job_facts_added',
      same,
      'job_facts_added',
      same,
      'job_facts_added',
      same,
      'job_facts_added',
    ],
    [
      same,
      'job_marked_running',
      same,
      'job_marked_running',
      same,
      'job_facts_added',
      same,
      'job_facts_added',
      same,
      'job_facts_added',
    ],
  ]);
});

test('a job that its worker’s pool does not serve has a series of its own behind that (B10)', () => {
  const { choices, outcomes } = possibleOutcomes([
    { jobId: 1, status: 'running', place: { ignored: 'ignored_public_repository' } },
  ]);
  const [begin = 0] = choices;
  expect(outcomes.slice(begin + 9, begin + 13)).toEqual([
    'ignored_public_repository',
    'worker_misused',
    'job_already_exists',
    'worker_misused',
  ]);
});

test('deliveries that can come to the same share a series (B6)', () => {
  const batch = Array.from({ length: 64 }, (_, index) => ({
    jobId: index,
    status: 'pending' as const,
    place,
  }));
  // One for whose name is its own and one for the other case, each with one for a worker of
  // another's pool.
  expect(possibleOutcomes(batch).outcomes).toHaveLength(40);
});
