import { expect, test } from '@jest/globals';
import { readJobReference } from './job-reference.ts';

const RUN = 'https://github.com/acme/api/actions/runs/9200000001';

test.each([
  ['34500000001', { job: 34_500_000_001 }],
  [`${RUN}/job/34500000001`, { job: 34_500_000_001 }],
  [`${RUN}/job/34500000001?pr=7#step:3:1`, { job: 34_500_000_001 }],
  [`${RUN}/attempts/2/job/34500000001`, { job: 34_500_000_001 }],
  ['https://github.example.com/acme/api/actions/runs/7/job/8', { job: 8 }],
  [RUN, { run: 9_200_000_001, owner: 'acme' }],
  [`${RUN}/`, { run: 9_200_000_001, owner: 'acme' }],
  [`${RUN}/attempts/12`, { run: 9_200_000_001, owner: 'acme' }],
])('%s is %o (P5)', (text, reference) => {
  expect(readJobReference(text)).toEqual(reference);
});

test.each([
  '',
  '0',
  '-1',
  '1e3',
  '99999999999999999',
  'build',
  'https://github.com/acme/api',
  'https://github.com/acme/api/actions/runs/x',
  'https://github.com/acme/api/actions/runs/1/job/x',
  'github.com/acme/api/actions/runs/1',
  'https://example.com/mirror/acme/api/actions/runs/1',
])('%s is neither a job nor a run (P5)', (text) => {
  expect(readJobReference(text)).toBeUndefined();
});
