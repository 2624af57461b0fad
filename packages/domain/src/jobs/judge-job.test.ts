import { describe, expect, test } from '@jest/globals';
import {
  type Merged,
  jobOutcome,
  type JobRow,
  OLD_AFTER_MS,
  isOldDemand,
} from './merge-statement.ts';
import {
  type KnownJob,
  judgeDiscoveredJob,
  type JobAnswer,
  type JobToJudge,
  type JobVerdict,
  judgeJob,
} from './judge-job.ts';

const pending: JobToJudge = {
  status: 'pending',
  wantsWorker: true,
  hasWorker: false,
  wasQueued: false,
  wasLookedUp: true,
  wasGone: false,
  wasHidden: false,
};
/** Its delivery was old when it came. */
const old: JobToJudge = { ...pending, wantsWorker: false, wasQueued: true, wasLookedUp: false };
const running: JobToJudge = { ...pending, status: 'running', wantsWorker: false };
const says = (status: string, conclusion: string | null = null): JobAnswer => ({
  kind: 'job',
  status,
  conclusion,
});
const queuedInEndedRun: JobAnswer = {
  kind: 'job',
  status: 'queued',
  conclusion: null,
  runEnd: { conclusion: 'cancelled' },
};
const failed = (conclusion: string | null): JobVerdict =>
  ({ kind: 'failed', message: expect.any(String), conclusion }) as never;

const cases: [string, JobToJudge, JobAnswer, JobVerdict][] = [
  ['completed', pending, says('completed', 'success'), { kind: 'stated', action: 'completed' }],
  [
    'a conclusion, with any status',
    pending,
    says('queued', 'cancelled'),
    { kind: 'stated', action: 'completed' },
  ],
  [
    'completed, though we failed it',
    { ...pending, status: 'failed' },
    says('completed', 'success'),
    { kind: 'stated', action: 'completed' },
  ],
  [
    'completed, without a conclusion',
    pending,
    says('completed'),
    { kind: 'stated', action: 'completed' },
  ],
  ['in_progress', pending, says('in_progress'), { kind: 'stated', action: 'in_progress' }],
  ['queued, and it is demand', pending, says('queued'), { kind: 'queued', again: false }],
  [
    'queued again, and it is demand',
    { ...pending, wasQueued: true },
    says('queued'),
    { kind: 'queued', again: false },
  ],
  [
    'queued, and its repository was hidden',
    { ...pending, wantsWorker: false, wasHidden: true },
    says('queued'),
    { kind: 'requeued' },
  ],
  ['queued once, and it is no demand', running, says('queued'), { kind: 'queued', again: true }],
  [
    'queued twice, and no runner has it',
    { ...running, wasQueued: true },
    says('queued'),
    { kind: 'requeued' },
  ],
  [
    'queued twice, and we failed it',
    { ...running, status: 'failed', wasQueued: true },
    says('queued'),
    { kind: 'requeued' },
  ],
  [
    'queued twice, and a live worker has it',
    { ...running, wasQueued: true, hasWorker: true },
    says('queued'),
    { kind: 'answered' },
  ],
  [
    'queued, though GitHub had completed it',
    { ...running, status: 'completed', wasQueued: true },
    says('queued'),
    { kind: 'answered' },
  ],
  ['queued in an ended run, at first', pending, queuedInEndedRun, { kind: 'queued', again: false }],
  [
    'queued in an ended run, twice, and we had failed it',
    { ...running, status: 'failed', wasQueued: true },
    queuedInEndedRun,
    { kind: 'answered' },
  ],
  [
    'queued in an ended run, twice',
    { ...pending, wasQueued: true },
    queuedInEndedRun,
    failed('cancelled'),
  ],
  ['queued, and its delivery was old', old, says('queued'), { kind: 'requeued' }],
  [
    'queued in an ended run, at first, and its delivery was old',
    old,
    queuedInEndedRun,
    { kind: 'queued', again: true },
  ],
  [
    'queued in an ended run, twice, and its delivery was old',
    { ...old, wasLookedUp: true },
    queuedInEndedRun,
    failed('cancelled'),
  ],
  ['waiting for an approval', pending, says('waiting'), { kind: 'answered' }],
  ['gone at first, and no runner has it', pending, { kind: 'gone' }, { kind: 'gone' }],
  ['gone at first', running, { kind: 'gone' }, { kind: 'gone' }],
  ['gone twice', { ...running, wasGone: true }, { kind: 'gone' }, failed(null)],
  [
    'gone, and we had failed it',
    { ...running, status: 'failed', wasGone: true },
    { kind: 'gone' },
    { kind: 'answered' },
  ],
];

describe('judgeJob (E4, A6)', () => {
  test.each([
    ['as it is concluded', 'cancelled', 'cancelled'],
    ['as superseded, where GitHub says nothing', null, 'superseded'],
  ])('tells the end of a run %s', (_name, conclusion, told) => {
    const verdict = judgeJob(
      { ...pending, wasQueued: true },
      { ...queuedInEndedRun, runEnd: { conclusion } },
    );
    expect(verdict).toMatchObject({
      kind: 'failed',
      conclusion,
      message: expect.stringContaining(told),
    });
  });

  test.each(cases)('%s', (_name, job, answer, verdict) => {
    expect(judgeJob(job, answer)).toEqual(verdict);
  });
});

const place = { pool: 'small', image: 'runner:1', scopeRepoId: 0 };
const ignored = { ignored: 'ignored_no_label' } as const;
const to = (status: JobRow['status']) => ({ status });
const atWork = to('running');
const none = undefined;

test.each<[string, Partial<Merged>, string]>([
  ['a new job', { before: none, after: to('pending') }, 'job_stored'],
  ['a job first seen at its end', { before: none, after: to('completed') }, 'job_stored'],
  ['a start', { before: to('pending'), after: atWork }, 'job_marked_running'],
  ['an end', { before: atWork, after: to('completed') }, 'job_marked_completed'],
  [
    'an end without a start',
    { before: to('pending'), after: to('completed') },
    'job_marked_completed',
  ],
  ['a repetition', { before: atWork, after: atWork }, 'job_already_exists'],
  [
    'the end of a job that Paddock failed',
    { before: to('failed'), after: to('failed') },
    'job_facts_added',
  ],
  ['a runner learnt late', { before: to('completed'), after: to('completed') }, 'job_facts_added'],
  ['no pool', { before: none, after: none, place: ignored }, 'ignored_no_label'],
  [
    'no pool, but one of our workers',
    { before: none, after: atWork, place: ignored },
    'worker_bound',
  ],
  [
    'no pool now, but a row',
    { before: atWork, after: to('completed'), place: ignored },
    'job_marked_completed',
  ],
  [
    'no pool now, and nothing new',
    { before: atWork, after: atWork, place: ignored },
    'job_already_exists',
  ],
  [
    'a worker whose pool does not serve it',
    { before: none, after: atWork, place: ignored, isMisused: true },
    'worker_misused',
  ],
  [
    'the same of a job that waited in another pool',
    { before: to('pending'), after: atWork, isMisused: true },
    'worker_misused',
  ],
])('%s (B10)', (_what, merged, expected) => {
  const given = { before: none, after: none, place, isMisused: false };
  expect(jobOutcome({ ...given, ...merged })).toBe(expected);
});

const row = (status: KnownJob['status'], wantsWorker = status === 'pending'): KnownJob => ({
  status,
  wantsWorker,
});
const told = (status: string, conclusion: string | null = null) => ({ status, conclusion });

describe('judgeDiscoveredJob (E2)', () => {
  test.each([
    ['queued, unknown: it is demand', undefined, told('queued'), 'news queued'],
    [
      'in progress, unknown: it may be on one of our workers',
      undefined,
      told('in_progress'),
      'news in_progress',
    ],
    ['ended, unknown', undefined, told('completed', 'success'), 'known'],
    ['held back by an approval', undefined, told('waiting'), 'known'],
    ['queued, as we know', row('pending'), told('queued'), 'known'],
    ['in progress, and we wait', row('pending'), told('in_progress'), 'news in_progress'],
    ['in progress, as we know', row('running'), told('in_progress'), 'known'],
    [
      'ended by its conclusion, and we wait',
      row('pending'),
      told('queued', 'cancelled'),
      'news completed',
    ],
    [
      'ended without a conclusion, and it runs here',
      row('running'),
      told('completed'),
      'news completed',
    ],
    ['ended, and it runs here', row('running'), told('completed', 'success'), 'news completed'],
    ['ended, as we know', row('completed'), told('completed', 'success'), 'known'],
    ['ended, and we failed it', row('failed'), told('completed', 'success'), 'news completed'],
    ['in progress, and we failed it', row('failed'), told('in_progress'), 'known'],
    ['queued, and it runs here', row('running'), told('queued'), 'look_up'],
    ['queued, and it is demand again already', row('running', true), told('queued'), 'known'],
    ['queued, and we failed it', row('failed'), told('queued'), 'look_up'],
    ['queued, and GitHub had ended it', row('completed'), told('queued'), 'known'],
  ])('%s', (_name, known, job, expected) => {
    const verdict = judgeDiscoveredJob(known, job);
    expect(verdict.kind === 'news' ? `news ${verdict.action}` : verdict.kind).toBe(expected);
  });
});

const NOW = Date.parse('2026-03-02T12:00:00Z');

test.each([
  ['waits since a moment more than a day', 'pending', '2026-03-01T11:59:59.999Z', true],
  ['waits since a day', 'pending', '2026-03-01T12:00:00Z', false],
  ['waits since now', 'pending', '2026-03-02T12:00:00Z', false],
  ['runs, whenever it was queued', 'running', '2026-01-01T00:00:00Z', false],
  ['does not say since when it waits', 'pending', null, false],
] as const)('a statement of a job that %s', (_, status, queuedAt, isOld) => {
  expect(isOldDemand({ status, queuedAt }, NOW)).toBe(isOld);
});

test('GitHub drops a job that no runner has taken for a day', () => {
  expect(OLD_AFTER_MS).toBe(24 * 60 * 60 * 1000);
});
