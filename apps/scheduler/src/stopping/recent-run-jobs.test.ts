import { describe, expect, test } from '@jest/globals';
import type { GitHubJob } from '@paddock/github/jobs';
import { createRecentRunJobs } from './recent-run-jobs.ts';

const RUN = 7;
const ANY_AGE = Infinity;

function start() {
  let at = 0;
  let asked = 0;
  const looks = createRecentRunJobs(() => at);
  return {
    asked: () => asked,
    pass: (ms: number) => void (at += ms),
    jobsOf: (
      sinceMs: number,
      answer: () => Promise<readonly GitHubJob[]> = () => Promise.resolve([]),
    ) =>
      looks.jobsOf(RUN, sinceMs, () => {
        asked += 1;
        return answer();
      }),
  };
}

describe('one look at a run serves all stops that were due when it was begun (P4, P2)', () => {
  test('the answer that another stop has just read', async () => {
    const looks = start();
    await looks.jobsOf(ANY_AGE);
    looks.pass(9_000);
    await looks.jobsOf(9_000);
    expect(looks.asked()).toBe(1);
  });

  test('the answer that another stop is reading', async () => {
    const looks = start();
    await Promise.all([looks.jobsOf(0), looks.jobsOf(0)]);
    expect(looks.asked()).toBe(1);
  });

  test.each([
    ['was begun before the stop was due', 5_000, 4_999],
    ['is old', 11_000, ANY_AGE],
  ])('but not one that %s', async (_what, passed, sinceMs) => {
    const looks = start();
    await looks.jobsOf(ANY_AGE);
    looks.pass(passed);
    await looks.jobsOf(sinceMs);
    expect(looks.asked()).toBe(2);
  });

  test('nor a failed one: each stop calls GitHub itself, and gets its own failure only', async () => {
    const looks = start();
    const failed = looks.jobsOf(0, () => Promise.reject(new Error('aborted')));
    const other = looks.jobsOf(0);
    await expect(failed).rejects.toThrow('aborted');
    await expect(other).resolves.toEqual([]);
    await looks.jobsOf(0);
    expect(looks.asked()).toBe(2);
  });
});
