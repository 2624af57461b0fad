import { describe, expect, test } from '@jest/globals';
import { type JobAnswer, judgeJob, type JobVerdict, type JobToJudge } from './judge-job.ts';

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
