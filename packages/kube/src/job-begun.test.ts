import { expect, test } from '@jest/globals';
import { jobInLog } from './job-begun.ts';

const START = [
  '',
  '√ Connected to GitHub',
  '',
  "Current runner version: '2.337.0'",
  '2026-01-31 10:14:27Z: Listening for Jobs',
];
const JOB = '2026-01-31 10:26:17Z: Running job: build (linux, 20)';
const END = '2026-01-31 10:27:40Z: Job build (linux, 20) completed with result: Succeeded';

test.each([
  ['it waits', START, 'listening'],
  ['it has taken a job', [...START, JOB], 'job_begun'],
  ['its job is over', [...START, JOB, END], 'job_over'],
  ['its job is over, and another has begun', [...START, JOB, END, JOB], 'job_begun'],
  ['only the end is left of the log', [END], 'job_over'],
  [
    'an image that prefixes each line',
    [...START, JOB].map(
      (line) => `[TERMINAL 2026-01-31 10:26:17Z INFO Terminal] WRITE LINE: ${line}`,
    ),
    'job_begun',
  ],
  [
    'it says that it runs jobs, but not in a runner’s words',
    ['will be running jobs', 'Running job soon'],
    'silent',
  ],
  [
    'it did not come to listening',
    ['√ Connected to GitHub', 'An error occurred: Not configured.'],
    'silent',
  ],
  ['nothing', [], 'silent'],
] as const)('%s (E5)', (_what, lines, expected) => {
  expect(jobInLog(lines.join('\n'))).toBe(expected);
});
