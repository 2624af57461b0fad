import { z } from 'zod';
import { normaliseLabels } from '../pools/labels.ts';
import { readRunnerName } from '../workers/runner-name.ts';
import { entity, type Entity, id, instant, optionalText } from './payload-fields.ts';

/** What a delivery says has become of the job. Of a job's own `status` in the payload nothing is read: the action decides (B3). */
export type StatedStatus = 'pending' | 'running' | 'completed';

/** What one delivery says of a job. Instants are ISO 8601 in UTC; null is what it does not say. */
export interface JobStatement {
  readonly jobId: number;
  readonly status: StatedStatus;
  readonly runId: number;
  readonly runAttempt: number;
  readonly jobName: string;
  readonly workflowName: string | null;
  readonly htmlUrl: string | null;
  /** Normalised; as sent they stay in the delivery. */
  readonly labels: readonly string[];
  readonly conclusion: string | null;
  readonly runnerName: string | null;
  readonly runnerId: number | null;
  readonly queuedAt: string | null;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly entity: Entity;
  readonly repoId: number;
  readonly repoFullName: string;
  /** Null: not known; then it is served where public repositories are. */
  readonly isPublic: boolean | null;
  readonly installationId: number | null;
}

const STATUS_OF_ACTION = { queued: 'pending', waiting: 'pending', in_progress: 'running', completed: 'completed' } as const;

export type WorkflowJobAction = keyof typeof STATUS_OF_ACTION;

export const isWorkflowJobAction = (action: string): action is WorkflowJobAction => Object.hasOwn(STATUS_OF_ACTION, action);

// Only what is read is described: GitHub adds fields at any time, and old deliveries lack run_attempt, workflow_name and created_at.
const payload = z.object({
  workflow_job: z.object({
    id,
    run_id: id,
    run_attempt: z
      .int32()
      .positive()
      .nullish()
      .transform((value) => value ?? 1),
    name: z.string(),
    workflow_name: optionalText,
    html_url: optionalText,
    labels: z
      .array(z.string())
      .nullish()
      .transform((value) => value ?? []),
    conclusion: optionalText,
    // Of nothing but spaces it is none, as an empty one is.
    runner_name: optionalText.transform((name) => (name === null ? null : readRunnerName(name) || null)),
    runner_id: z
      .int()
      .nullish()
      .transform((value) => value ?? null),
    created_at: instant,
    started_at: instant,
    completed_at: instant,
  }),
  repository: z.object({ id, full_name: z.string().min(1), private: z.boolean(), owner: entity }),
  installation: z.object({ id }).nullish(),
});

/** Reads a workflow_job payload. Throws a ZodError if it lacks what every such event has. */
export function readWorkflowJob(action: WorkflowJobAction, body: unknown): JobStatement {
  const { workflow_job: job, repository, installation } = payload.parse(body);
  const status = STATUS_OF_ACTION[action];
  // A queued job may already name a runner and a start: it runs once GitHub says in_progress, and on the runner named then.
  const hasBegun = status !== 'pending';
  return {
    jobId: job.id,
    status,
    runId: job.run_id,
    runAttempt: job.run_attempt,
    jobName: job.name,
    workflowName: job.workflow_name,
    htmlUrl: job.html_url,
    labels: normaliseLabels(job.labels),
    conclusion: status === 'completed' ? job.conclusion : null,
    runnerName: hasBegun ? job.runner_name : null,
    runnerId: hasBegun ? job.runner_id : null,
    queuedAt: job.created_at,
    startedAt: hasBegun ? job.started_at : null,
    completedAt: status === 'completed' ? job.completed_at : null,
    entity: repository.owner,
    repoId: repository.id,
    repoFullName: repository.full_name,
    isPublic: !repository.private,
    installationId: installation?.id ?? null,
  };
}
