import { describe, expect, test } from '@jest/globals';
import { judgeDiscoveredJob, type KnownJob } from './judge-discovered-job.ts';

const row = (status: KnownJob['status'], wantsWorker = status === 'pending'): KnownJob => ({
  status,
  wantsWorker,
});
const says = (status: string, conclusion: string | null = null) => ({ status, conclusion });

describe('judgeDiscoveredJob (E2)', () => {
  test.each([
    ['queued, unknown: it is demand', undefined, says('queued'), 'news queued'],
    [
      'in progress, unknown: it may be on one of our workers',
      undefined,
      says('in_progress'),
      'news in_progress',
    ],
    ['ended, unknown', undefined, says('completed', 'success'), 'known'],
    ['held back by an approval', undefined, says('waiting'), 'known'],
    ['queued, as we know', row('pending'), says('queued'), 'known'],
    ['in progress, and we wait', row('pending'), says('in_progress'), 'news in_progress'],
    ['in progress, as we know', row('running'), says('in_progress'), 'known'],
    [
      'ended by its conclusion, and we wait',
      row('pending'),
      says('queued', 'cancelled'),
      'news completed',
    ],
    [
      'ended without a conclusion, and it runs here',
      row('running'),
      says('completed'),
      'news completed',
    ],
    ['ended, and it runs here', row('running'), says('completed', 'success'), 'news completed'],
    ['ended, as we know', row('completed'), says('completed', 'success'), 'known'],
    ['ended, and we failed it', row('failed'), says('completed', 'success'), 'news completed'],
    ['in progress, and we failed it', row('failed'), says('in_progress'), 'known'],
    ['queued, and it runs here', row('running'), says('queued'), 'look_up'],
    ['queued, and it is demand again already', row('running', true), says('queued'), 'known'],
    ['queued, and we failed it', row('failed'), says('queued'), 'look_up'],
    ['queued, and GitHub had ended it', row('completed'), says('queued'), 'known'],
  ])('%s', (_name, known, job, expected) => {
    const verdict = judgeDiscoveredJob(known, job);
    expect(verdict.kind === 'news' ? `news ${verdict.action}` : verdict.kind).toBe(expected);
  });
});
