import { fullName } from './accounts.ts';
import { WORKFLOW } from './assignment.ts';
import { exampleOf, nodeId, objectField } from './fragments.ts';
import type { Job, JobStatus, Payload, World } from './world.ts';

/**
 * The examples that give a job's JSON its form in each state. The webhook and the REST API have the
 * same form.
 */
const EXAMPLES: Readonly<Record<JobStatus, Payload>> = {
  waiting: objectField(exampleOf('workflow_job', 7), 'workflow_job'),
  queued: objectField(exampleOf('workflow_job', 5), 'workflow_job'),
  in_progress: objectField(exampleOf('workflow_job', 3), 'workflow_job'),
  completed: objectField(exampleOf('workflow_job', 2), 'workflow_job'),
};

export function jobJson(world: World, job: Job): Payload {
  const { run } = job;
  const api = `${world.url}/repos/${fullName(run.repository)}`;
  const html = `${world.url}/${fullName(run.repository)}/actions/runs/${run.id}`;
  return {
    ...EXAMPLES[job.status],
    id: job.id,
    run_id: run.id,
    run_url: `${api}/actions/runs/${run.id}`,
    run_attempt: job.attempt,
    node_id: nodeId('CR', job.id),
    head_sha: run.headSha,
    head_branch: WORKFLOW.branch,
    workflow_name: run.workflowName,
    url: `${api}/actions/jobs/${job.id}`,
    html_url: `${html}/job/${job.id}`,
    check_run_url: `${api}/check-runs/${job.id}`,
    status: job.status,
    conclusion: job.conclusion,
    created_at: job.createdAt,
    started_at: job.startedAt,
    completed_at: job.completedAt,
    name: job.name,
    labels: job.labels,
    runner_id: job.runner?.id ?? null,
    runner_name: job.runner?.name ?? null,
    runner_group_id: job.runner?.groupId ?? null,
    runner_group_name: job.runner?.groupName ?? null,
  };
}
