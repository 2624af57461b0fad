import type { Account, Repository } from './accounts.ts';
import type { JobResult, Runner } from './runner.ts';

export type JobStatus = 'waiting' | 'queued' | 'in_progress' | 'completed';
export type JobConclusion = 'success' | 'failure' | 'cancelled' | 'skipped';

/** A workflow run. Its status follows from its jobs; re-running a job raises its attempt. */
export type Run = {
  readonly id: number;
  readonly repository: Repository;
  readonly actor: Account;
  readonly number: number;
  readonly workflowName: string;
  readonly headSha: string;
  /** The event that began it: a push, or a schedule's time. */
  readonly event: 'push' | 'schedule';
  readonly createdAt: string;
  attempt: number;
  readonly jobs: Job[];
};

export type Job = {
  readonly id: number;
  readonly run: Run;
  readonly attempt: number;
  readonly name: string;
  readonly labels: readonly string[];
  readonly durationMs: number;
  readonly result: JobResult;
  /** One of GitHub's own machines runs it at once, and none of our runners gets it. */
  readonly hosted: boolean;
  readonly createdAt: string;
  status: JobStatus;
  conclusion: JobConclusion | null;
  startedAt: string;
  completedAt: string | null;
  /**
   * When it began, or ended without having begun, in milliseconds since the epoch; null while it
   * waits.
   */
  leftQueueAtMs: number | null;
  /** The runner that runs it or ran it. */
  runner: JobRunner | null;
  /** Its runner was lost or removed during the job. */
  killed: boolean;
};

export type JobRunner = {
  readonly id: number;
  readonly name: string;
  readonly groupId: number;
  readonly groupName: string;
};

/** GitHub's words for a run's state, from the jobs of its latest attempt. */
export function runState(run: Run): {
  status: JobStatus;
  conclusion: JobConclusion | null;
  updatedAt: string;
} {
  const jobs = latestJobs(run);
  const updatedAt = jobs
    .map((job) => job.completedAt ?? job.startedAt)
    .reduce((a, b) => (a > b ? a : b), run.createdAt);
  const unfinished = jobs.filter((job) => job.status !== 'completed');
  if (unfinished.length === 0) {
    const bad =
      jobs.find((job) => job.conclusion === 'failure') ??
      jobs.find((job) => job.conclusion === 'cancelled');
    return { status: 'completed', conclusion: bad?.conclusion ?? 'success', updatedAt };
  }
  const started = jobs.some((job) => job.status === 'in_progress' || job.status === 'completed');
  const status = started
    ? 'in_progress'
    : unfinished.every((job) => job.status === 'waiting')
      ? 'waiting'
      : 'queued';
  return { status, conclusion: null, updatedAt };
}

/** For each job name, the job of the highest attempt. */
export function latestJobs(run: Run): Job[] {
  const latest = new Map<string, Job>();
  for (const job of run.jobs) latest.set(job.name, job);
  return [...latest.values()];
}

export function jobRunnerOf(runner: Runner): JobRunner {
  return {
    id: runner.id,
    name: runner.name,
    groupId: runner.group.id,
    groupName: runner.group.name,
  };
}
