import { z } from 'zod';
import { normaliseLabels } from '../text/storable.ts';
import { readRunnerName } from '../workers/worker-name.ts';
import { entity, type Entity, id, instant, optionalText } from './payload-fields.ts';

/** The job's status by the delivery's action. The payload's own `status` is not read. */
export type StatedStatus = 'pending' | 'running' | 'completed';

/** What a delivery says about a job. Instants are ISO 8601 in UTC; null: it does not say. */
export interface JobStatement {
  readonly jobId: number;
  readonly status: StatedStatus;
  readonly runId: number;
  readonly runAttempt: number;
  readonly jobName: string;
  readonly workflowName: string | null;
  readonly htmlUrl: string | null;
  /** Normalised. The delivery keeps them as sent. */
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
  /** Null if unknown. Then only pools for public repositories serve it. */
  readonly isPublic: boolean | null;
  readonly installationId: number | null;
}

export type DeliveredStatement = JobStatement & {
  readonly appId: number;
  readonly deliveryGuid: string | null;
};

const STATUS_OF_ACTION = {
  queued: 'pending',
  waiting: 'pending',
  in_progress: 'running',
  completed: 'completed',
} as const;

export type WorkflowJobAction = keyof typeof STATUS_OF_ACTION;

export const isWorkflowJobAction = (action: string): action is WorkflowJobAction =>
  Object.hasOwn(STATUS_OF_ACTION, action);

// Only used fields: GitHub adds fields at any time. Old deliveries lack run_attempt, workflow_name
// and created_at.
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
    // A name of spaces only counts as none.
    runner_name: optionalText.transform((name) =>
      name === null ? null : readRunnerName(name) || null,
    ),
    // GitHub says 0 where it means none.
    runner_id: z
      .int()
      .nullish()
      .transform((value) => value || null),
    created_at: instant,
    started_at: instant,
    completed_at: instant,
  }),
  repository: z.object({ id, full_name: z.string().min(1), private: z.boolean(), owner: entity }),
  installation: z.object({ id }).nullish(),
});

/** GitHub has given the job to a runner, and not said to which. One of ours looks idle until then. */
export const lacksRunner = ({ status, runnerName }: JobStatement): boolean =>
  status === 'running' && runnerName === null;

/** Reads a workflow_job payload. Throws a ZodError if a required field is missing. */
export function readWorkflowJob(action: WorkflowJobAction, body: unknown): JobStatement {
  const { workflow_job: job, repository, installation } = payload.parse(body);
  const status = STATUS_OF_ACTION[action];
  // A queued job may already name a runner and a start. Only `in_progress` makes them final.
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
