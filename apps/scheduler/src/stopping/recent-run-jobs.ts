import type { GitHubJob } from '@paddock/github/jobs';

/**
 * How old the reading of another stop may be. One stop takes this long to read the runs of a busy
 * entity.
 */
const FRESH_MS = 10_000;

/**
 * GitHub's recent answers about runs with waiting jobs, shared by all stops of this process to save
 * calls. `now`: milliseconds of a monotonic clock.
 */
export function createRecentRunJobs(now: () => number = () => performance.now()) {
  const looks = new Map<number, { begunAt: number; jobs: Promise<readonly GitHubJob[]> }>();
  return {
    /**
     * The jobs of a run, read after `sinceMs` milliseconds ago and recently: the result that another
     * stop has read or is reading, else the result of `ask`. Throws what `ask` throws; after another
     * stop's failure it calls `ask`.
     */
    async jobsOf(
      runId: number,
      sinceMs: number,
      ask: () => Promise<readonly GitHubJob[]>,
    ): Promise<readonly GitHubJob[]> {
      for (const [id, { begunAt }] of looks) if (begunAt < now() - FRESH_MS) looks.delete(id);
      const others = looks.get(runId);
      if (others !== undefined && others.begunAt >= now() - sinceMs) {
        const jobs = await others.jobs.catch(() => undefined);
        if (jobs !== undefined) return jobs;
      }
      const look = { begunAt: now(), jobs: ask() };
      looks.set(runId, look);
      return look.jobs;
    },
  };
}
