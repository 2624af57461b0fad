import type { JobResult } from './play-runner.ts';
import { findRepository } from './accounts.ts';
import { canRun, pickRunner } from './assignment.ts';
import { emitWorkflowJob } from './payloads.ts';
import { Refusal, notFound } from './refusal.ts';
import { randomText } from '../random.ts';
import {
  type Job,
  type JobConclusion,
  type JobRunner,
  type Run,
  type World,
  forgetRunner,
  isoNow,
  later,
  nextId,
  strike,
} from './world.ts';

/*
 * A job's life, each step with its delivery:
 *
 *   waiting ──approve──► queued ──a runner fits──► in_progress ──► completed
 *                          └──────────cancel──────────┴───────────────┘
 */

export type NewJob = {
  /** `owner/name` */
  readonly repo: string;
  readonly labels: readonly string[];
  readonly group?: string | undefined;
  readonly jobName?: string | undefined;
  readonly workflowName?: string | undefined;
  /** How long the runner works, in milliseconds; 100 by default. */
  readonly durationMs?: number | undefined;
  readonly result?: JobResult | undefined;
  /** Runs at once on one of GitHub's machines. */
  readonly hosted?: boolean | undefined;
  /** Held back by a deployment's protection rule until `approveJob`. */
  readonly waiting?: boolean | undefined;
  /** The event that begins its run; a push by default. */
  readonly event?: Run['event'] | undefined;
  /** GitHub forgets to announce that it is queued: there is no event, and the log has no entry. */
  readonly unannounced?: boolean | undefined;
  /** After so long a runner of another controller comes for it, in milliseconds. */
  readonly rivalMs?: number | undefined;
  /** Adds the job to this run instead of a new one. */
  readonly runId?: number | undefined;
};

export function queueJob(world: World, wanted: NewJob): Job {
  const { runId, labels, group, durationMs = 100, result = 'success', hosted = false } = wanted;
  const run = runId === undefined ? startRun(world, wanted) : findRun(world, runId);
  const name = wanted.jobName ?? `build ${run.jobs.length + 1}`;
  const job = addJob(world, run, { name, labels, group, durationMs, result, hosted }, wanted);
  if (wanted.rivalMs !== undefined) later(world, wanted.rivalMs, () => takeAway(world, job));
  return job;
}

function takeAway(world: World, job: Job): void {
  if (job.status !== 'queued') return;
  strike(world, 'job_taken');
  startElsewhere(world, job, 'Another');
}

function startRun(world: World, { repo, workflowName = 'CI', event = 'push' }: NewJob): Run {
  const repository = findRepository(world, repo);
  const run: Run = {
    id: nextId(world, 'run'),
    repository,
    actor: repository.owner,
    number: world.runs.size + 1,
    workflowName,
    headSha: Buffer.from(randomText(20), 'base64url').toString('hex'),
    event,
    createdAt: isoNow(world),
    attempt: 1,
    jobs: [],
  };
  world.runs.set(run.id, run);
  return run;
}

function addJob(
  world: World,
  run: Run,
  plan: Pick<Job, 'name' | 'labels' | 'group' | 'durationMs' | 'result' | 'hosted'>,
  { waiting = false, unannounced = false }: Pick<NewJob, 'waiting' | 'unannounced'> = {},
): Job {
  const now = isoNow(world);
  const job: Job = {
    id: nextId(world, 'job'),
    run,
    attempt: run.attempt,
    ...plan,
    createdAt: now,
    status: waiting ? 'waiting' : 'queued',
    conclusion: null,
    startedAt: now,
    completedAt: null,
    leftQueueAtMs: null,
    runner: null,
    killed: false,
  };
  run.jobs.push(job);
  world.jobs.set(job.id, job);
  if (unannounced) strike(world, 'event_never_sent');
  else emitWorkflowJob(world, job, waiting ? 'waiting' : 'queued');
  if (!waiting) enqueue(world, job);
  return job;
}

function enqueue(world: World, job: Job): void {
  world.queuedJobs.set(job.id, job);
  if (job.hosted) startElsewhere(world, job, 'GitHub Actions');
  else assignJob(world, job);
}

export function approveJob(world: World, jobId: number): Job {
  const job = findJob(world, jobId);
  if (job.status !== 'waiting')
    throw new Refusal(422, `Job ${jobId} is ${job.status}, not waiting.`);
  job.status = 'queued';
  emitWorkflowJob(world, job, 'queued');
  enqueue(world, job);
  return job;
}

/** A new job, with a new id, in the run's next attempt. */
export function rerunJob(world: World, jobId: number): Job {
  const job = findJob(world, jobId);
  if (job.status !== 'completed')
    throw new Refusal(403, `Job ${jobId} is ${job.status}; only a completed job can be run again.`);
  job.run.attempt += 1;
  const { name, labels, group, durationMs, result, hosted } = job;
  return addJob(world, job.run, { name, labels, group, durationMs, result, hosted });
}

/**
 * A queued or waiting job ends at once. A running job ends once the cancellation has reached its
 * runner.
 */
export function cancelJob(world: World, jobId: number): Job {
  const job = findJob(world, jobId);
  if (job.status === 'completed') return job;
  const runner = job.runner === null ? undefined : world.runners.get(job.runner.id);
  if (runner?.send) runner.send({ type: 'cancel' });
  else finishJob(world, jobId, 'cancelled');
  return job;
}

/** Gives every queued job, oldest first, a runner if one fits. */
export function assignJobs(world: World): void {
  const idle = [...world.runners.values()].filter((runner) => runner.state === 'idle');
  for (const job of world.queuedJobs.values()) {
    if (idle.some((runner) => runner.state === 'idle' && canRun(runner, job)))
      assignJob(world, job);
  }
}

function assignJob(world: World, job: Job): void {
  const runner = pickRunner(world, job);
  if (runner === undefined) return;
  runner.state = 'busy';
  runner.jobId = job.id;
  world.runnerRecords.get(runner.id)?.jobIds.push(job.id);
  const { id, name, group } = runner;
  begin(world, job, { id, name, groupId: group.id, groupName: group.name });
  const { id: jobId, durationMs, result } = job;
  runner.send?.({ type: 'job', jobId, name: job.name, durationMs, result });
}

/** On a runner that nobody has registered here. */
function startElsewhere(world: World, job: Job, groupName: string): void {
  const number = Math.floor(world.random() * 900) + 100;
  const name = `${groupName} ${number}`;
  begin(world, job, { id: 1_000_000_000 + number, name, groupId: 0, groupName });
  later(world, job.durationMs, () => finishJob(world, job.id, job.result));
}

function begin(world: World, job: Job, runner: JobRunner): void {
  world.queuedJobs.delete(job.id);
  job.status = 'in_progress';
  job.startedAt = isoNow(world);
  job.leftQueueAtMs = world.now();
  job.runner = runner;
  emitWorkflowJob(world, job, 'in_progress');
}

/** Ends a job, once, and forgets the ephemeral runner that ran it. */
export function finishJob(
  world: World,
  jobId: number,
  conclusion: JobConclusion,
  { killed = false } = {},
): void {
  const job = findJob(world, jobId);
  if (job.status === 'completed') return;
  world.queuedJobs.delete(jobId);
  job.status = 'completed';
  job.conclusion = conclusion;
  job.completedAt = isoNow(world);
  job.leftQueueAtMs ??= world.now();
  job.killed = killed;
  const runner = job.runner === null ? undefined : world.runners.get(job.runner.id);
  if (runner !== undefined) forgetRunner(world, runner);
  emitWorkflowJob(world, job, 'completed');
}

/** How long GitHub waits for a busy runner whose connection broke. */
const LOST_AFTER_MS = 500;

/** The job's runner has vanished: GitHub waits a little and then fails the job. */
export function loseRunnerOf(world: World, jobId: number): void {
  later(world, LOST_AFTER_MS, () => finishJob(world, jobId, 'failure', { killed: true }));
}

export function findJob(world: World, jobId: number): Job {
  const job = world.jobs.get(jobId);
  if (job === undefined) throw notFound();
  return job;
}

export function findRun(world: World, runId: number): Run {
  const run = world.runs.get(runId);
  if (run === undefined) throw notFound();
  return run;
}
