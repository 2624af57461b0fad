import { describe, expect, test } from '@jest/globals';
import { diagnoseFleet, type Hindrance } from './diagnose-fleet.ts';

const of = (name: string, given: Partial<Hindrance> = {}): Hindrance => ({
  subject: 'x',
  many: 1,
  jobs: 0,
  since: null,
  until: null,
  by: null,
  message: null,
  pools: [],
  job: null,
  name,
  ...given,
});

const told = (found: readonly Hindrance[], explained: Parameters<typeof diagnoseFleet>[1]) =>
  diagnoseFleet(found, explained).map(({ sentence }) => sentence);

const EXPLAINED = new Map([
  [1, { sentence: 'It is full.', actor: 'wait' as const, advice: 'Wait.' }],
  [2, { sentence: 'No node.', actor: 'platform' as const, advice: 'Add nodes.' }],
]);

describe('what holds work back (P5)', () => {
  test('is grouped by cause, the worst first', () => {
    const found = [
      of('at_pool_cap', { jobs: 9, job: 1, pools: ['a', 'b'] }),
      of('tasks_asleep', { subject: 'redeliver', message: 'no answer.', many: 2 }),
      of('no_capacity', { jobs: 2, job: 2, many: 3 }),
      of('making_stopped', { subject: 'upkeep', by: 'bob' }),
      of('stops_held', { message: 'no log' }),
      of('workers_failing', { subject: 'gpu', message: 'no image' }),
      of('making_stopped', { subject: 'entity:acme', by: 'ada', jobs: 1 }),
      of('service_silent', { subject: 'scheduler' }),
      of('github_unavailable', { subject: 'github', message: 'timed out' }),
    ];
    expect(told(found, EXPLAINED)).toEqual([
      'No process of the service scheduler gives a sign of life: no worker is made, followed or stopped.',
      'GitHub does not answer: timed out.',
      'ada holds back the making of workers for acme.',
      'For 3 accounts; of the oldest job: No node.',
      'In 2 pools; of the oldest job: It is full.',
      '2 failed tasks wait for the next try, redeliver: no answer.',
      '1 worker does not go, x for the longest: no log.',
      'Workers in gpu fail before they have a job: no image.',
      'bob holds back the sweep upkeep.',
    ]);
    const acts = diagnoseFleet(found, EXPLAINED).map(({ act }) => act ?? '-');
    expect(acts.join(' ')).toBe('- - resume - - try-again - try-again resume');
  });

  test('has ten lines of one name at most', () => {
    const many = Array.from({ length: 22 }, (_, n) => of('app_unfit', { message: `m${n}` }));
    const lines = told(many, new Map());
    expect(lines).toHaveLength(10);
    expect(lines[9]).toMatch(/: m9\. And 12 more of this kind\.$/);
  });
});
