import { expect, test } from '@jest/globals';
import { type JobInstants, phasesOfJob } from './phases-of-job.ts';

const at = (second: number) => new Date(second * 1_000);
const NEVER: JobInstants = {
  queuedAt: at(1),
  createdAt: at(2),
  startedAt: null,
  completedAt: at(60),
  reservedAt: null,
  registeredAt: null,
  runningAt: null,
};
const made = { reservedAt: at(3), registeredAt: at(4), runningAt: at(20) };
const ran = { ...made, startedAt: at(25) };

test.each<[string, Partial<JobInstants>, string]>([
  [
    'a worker that was made for it',
    ran,
    'delivery 1-2 match 2-3 register 3-4 pod 4-20 online 20-25 job 25-60',
  ],
  [
    'a worker that was there',
    { ...ran, createdAt: at(22) },
    'delivery 1-22 online 22-25 job 25-60',
  ],
  [
    'a worker that came up meanwhile',
    { ...ran, createdAt: at(10) },
    'delivery 1-10 pod 10-20 online 20-25 job 25-60',
  ],
  ['no worker of ours', { startedAt: at(5) }, 'delivery 1-2 online 2-5 job 5-60'],
  ['no runner', {}, 'delivery 1-2 job 2-60'],
  [
    'clocks that disagree',
    { ...ran, startedAt: at(19) },
    'delivery 1-2 match 2-3 register 3-4 pod 4-20 job 20-60',
  ],
  ['no word of its queueing', { queuedAt: null }, 'job 2-60'],
])('the way of a job with %s', (_what, given, phases) => {
  const found = phasesOfJob({ ...NEVER, ...given });
  expect(
    found
      .map(({ name, from, to }) => `${name} ${Number(from) / 1_000}-${Number(to) / 1_000}`)
      .join(' '),
  ).toBe(phases);
});
