import type { GitHubJob } from '@paddock/github/jobs';

/**
 * How old another stop's look at a run may be. One stop takes as long to look through the runs of a
 * busy entity, and what it saw first is as old then.
 */
const FRESH_MS = 10_000;

interface Look {
  readonly begunAt: number;
  readonly jobs: Promise<readonly GitHubJob[]>;
}

/**
 * What GitHub said a moment ago of runs with waiting jobs, for all stops of this process. Nothing
 * depends on it but the number of calls.
 */
export interface RunLooks {
  /**
   * The jobs of a run as GitHub told them after `sinceMs` milliseconds ago and not long ago: what
   * another stop has read or is reading, else what `ask` answers. Throws what `ask` throws; another
   * stop's failure makes it ask anew.
   */
  jobsOf(runId: number, sinceMs: number, ask: () => Promise<readonly GitHubJob[]>): Promise<readonly GitHubJob[]>;
}

/** `now`: milliseconds of a clock that only goes on. */
export function createRunLooks(now: () => number = () => performance.now()): RunLooks {
  const looks = new Map<number, Look>();
  const forgetOld = (): void => {
    for (const [runId, { begunAt }] of looks) if (begunAt < now() - FRESH_MS) looks.delete(runId);
  };
  return {
    async jobsOf(runId, sinceMs, ask) {
      forgetOld();
      const others = looks.get(runId);
      if (others !== undefined && others.begunAt >= now() - sinceMs) {
        // Those who asked first learn of a failure; this one asks for itself.
        const told = await others.jobs.catch(() => undefined);
        if (told !== undefined) return told;
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
