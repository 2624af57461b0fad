import type { GitHubJob } from '@paddock/github/jobs';

/**
 * How old the reading of another stop may be. One stop takes this long to read the runs of a busy
 * entity.
 */
const FRESH_MS = 10_000;

interface Look {
  readonly begunAt: number;
  readonly jobs: Promise<readonly GitHubJob[]>;
}

/**
 * GitHub's recent answers about runs with waiting jobs, shared by all stops of this process to save
 * calls.
 */
export interface RecentRunJobs {
  /**
   * The jobs of a run, read after `sinceMs` milliseconds ago and recently: the result that another
   * stop has read or is reading, else the result of `ask`. Throws what `ask` throws; after another
   * stop's failure it calls `ask`.
   */
  jobsOf(
    runId: number,
    sinceMs: number,
    ask: () => Promise<readonly GitHubJob[]>,
  ): Promise<readonly GitHubJob[]>;
}

/** `now`: milliseconds of a monotonic clock. */
export function createRecentRunJobs(now: () => number = () => performance.now()): RecentRunJobs {
  const looks = new Map<number, Look>();
  const forgetOld = (): void => {
    for (const [runId, { begunAt }] of looks) if (begunAt < now() - FRESH_MS) looks.delete(runId);
  };
  return {
    async jobsOf(runId, sinceMs, ask) {
      forgetOld();
      const others = looks.get(runId);
      if (others !== undefined && others.begunAt >= now() - sinceMs) {
        // A failure is thrown to the stop that asked first; this one asks for itself.
        const jobs = await others.jobs.catch(() => undefined);
        if (jobs !== undefined) return jobs;
      }
      const look = { begunAt: now(), jobs: ask() };
      looks.set(runId, look);
      try {
        return await look.jobs;
      } catch (error) {
        if (looks.get(runId) === look) looks.delete(runId);
        throw error;
      }
    },
  };
}
