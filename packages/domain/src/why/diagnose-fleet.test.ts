import { expect, test } from '@jest/globals';
import { diagnoseFleet, type Hindrance } from './diagnose-fleet.ts';

const NONE = {
  subject: 'x',
  jobs: 0,
  since: null,
  until: null,
  message: null,
  pools: [],
  job: null,
};
const of = (name: string, given: Partial<Hindrance> = {}): Hindrance => ({
  ...NONE,
  name,
  ...given,
});

test('what holds work back is grouped by cause, the worst first (P5)', () => {
  const explained = new Map([
    ['at_pool_cap', { sentence: 'It is full.', actor: 'wait' as const, advice: 'Wait.' }],
    ['no_capacity', { sentence: 'No node.', actor: 'platform' as const, advice: 'Add nodes.' }],
  ]);
  const found = [
    of('at_pool_cap', { jobs: 9, job: 1 }),
    of('tasks_asleep', { subject: 'redeliver', message: 'no answer.' }),
    of('no_capacity', { jobs: 2, job: 2 }),
    of('at_pool_cap'),
    of('stops_held'),
    of('workers_failing'),
    of('making_stopped', { subject: 'pool gpu', message: 'ada: image' }),
    of('service_silent', { subject: 'scheduler' }),
    of('github_unavailable', { subject: 'github', message: 'timed out' }),
  ];
  expect(diagnoseFleet(found, explained).map(({ sentence }) => sentence)).toEqual([
    'No process of the service scheduler gives a sign of life: no worker is made, followed or stopped.',
    'github (github unavailable): timed out.',
    'A person holds back pool gpu: ada: image.',
    'No node.',
    'Tasks that failed wait for their next try, redeliver: no answer.',
    'Workers that should go do not, x for the longest.',
    'Workers for x fail before they have a job.',
    'It is full.',
  ]);
});
