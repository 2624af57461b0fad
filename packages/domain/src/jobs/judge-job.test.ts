import { describe, expect, test } from '@jest/globals';
import { type Merged, jobOutcome, type JobRow, isOldDemand } from './merge-statement.ts';
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
const ended = (conclusion: string | null): JobAnswer => ({
  kind: 'job',
  status: 'queued',
  conclusion: null,
  runEnd: { conclusion },
});

/** What a row of the table says of the job, and what GitHub answers. */
const KNOWN: Readonly<Record<string, Partial<JobToJudge>>> = {
  'a job that waits': {},
  'a job that runs': { status: 'running', wantsWorker: false },
  'a job that we failed': { status: 'failed', wantsWorker: false },
  'a job that GitHub completed': { status: 'completed', wantsWorker: false },
  'a job whose delivery was old': { wantsWorker: false, wasQueued: true, wasLookedUp: false },
  'called queued before': { wasQueued: true },
  'called gone before': { wasGone: true },
  'looked up before': { wasLookedUp: true },
  'with a live worker': { hasWorker: true },
  'hidden until now': { wantsWorker: false, wasHidden: true },
};
const ANSWERS: Readonly<Record<string, JobAnswer>> = {
  gone: { kind: 'gone' },
  'queued in an ended run': ended('cancelled'),
};
const VERDICTS: Readonly<Record<string, JobVerdict>> = {
  'stated as completed': { kind: 'stated', action: 'completed' },
  'stated as in_progress': { kind: 'stated', action: 'in_progress' },
  queued: { kind: 'queued', again: false },
  'looked up again': { kind: 'queued', again: true },
  requeued: { kind: 'requeued' },
  gone: { kind: 'gone' },
  'left alone': { kind: 'answered' },
  'failed as cancelled': {
    kind: 'failed',
    message: expect.any(String) as never,
    conclusion: 'cancelled',
  },
  failed: { kind: 'failed', message: expect.any(String) as never, conclusion: null },
};

describe('judgeJob (E4, A6)', () => {
  test.each([
    'a job that waits: queued cancelled → stated as completed',
    'a job that waits: completed → stated as completed',
    'a job that waits: in_progress → stated as in_progress',
    'a job that runs: queued → looked up again',
    'a job that runs, called queued before, with a live worker: queued → left alone',
    'a job that GitHub completed: queued → looked up again',
    'a job that GitHub completed, called queued before: queued → requeued',
    'a job that GitHub completed, called queued before: queued in an ended run → left alone',
    'a job that waits: queued in an ended run → queued',
    'a job that we failed, called queued before: queued in an ended run → left alone',
    'a job whose delivery was old: queued → requeued',
    'a job whose delivery was old: queued in an ended run → looked up again',
    'a job that waits: waiting → left alone',
    'a job that waits: gone → gone',
    'a job that runs, called gone before: gone → failed',
    'a job that we failed, called gone before: gone → left alone',
  ])('%s', (row) => {
    const [job = '', answer = '', verdict = ''] = row.split(/: | → /);
    const known = job.split(', ').map((word) => KNOWN[word]);
    expect(known).not.toContain(undefined);
    const [status = '', conclusion = null] = answer.split(' ');
    expect(
      judgeJob(
        Object.assign({}, pending, ...known),
        ANSWERS[answer] ?? { kind: 'job', status, conclusion },
      ),
    ).toEqual(VERDICTS[verdict]);
  });

  test.each([
    ['as it is concluded', 'cancelled', 'cancelled'],
    ['as superseded, where GitHub says nothing', null, 'superseded'],
  ])('tells the end of a run %s', (_name, conclusion, told) => {
    const verdict = judgeJob({ ...pending, wasQueued: true }, ended(conclusion));
    expect(verdict).toMatchObject({
      kind: 'failed',
      conclusion,
      message: expect.stringContaining(told),
    });
  });
});

const place = { pool: 'small', image: 'runner:1', scopeRepoId: 0 };
const ignored = { ignored: 'ignored_no_label' } as const;
const to = (status: JobRow['status']) => ({ status });
const atWork = to('running');
const none = undefined;

test.each<[string, Partial<Merged>, string]>([
  ['a new job', { before: none, after: to('pending') }, 'job_stored'],
  ['a start', { before: to('pending'), after: atWork }, 'job_marked_running'],
  ['an end', { before: to('pending'), after: to('completed') }, 'job_marked_completed'],
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
  ['ended, as we know', row('completed'), told('completed', 'success'), 'known'],
  ['queued, and it runs here', row('running'), told('queued'), 'look_up'],
  ['queued, and GitHub had ended it', row('completed'), told('queued'), 'look_up'],
])('judgeDiscoveredJob: %s (E2)', (_name, known, job, expected) => {
  const verdict = judgeDiscoveredJob(known, job);
  expect(verdict.kind === 'news' ? `news ${verdict.action}` : verdict.kind).toBe(expected);
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
