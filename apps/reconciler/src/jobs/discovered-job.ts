import type { EntityToAsk } from '@paddock/db/entities/whom-to-ask';
import type { Finding } from '@paddock/db/jobs/record-jobs';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import type { WorkflowJobAction } from '@paddock/domain/deliveries/workflow-job-event';
import type { GitHubJob } from '@paddock/github/jobs';
import type { RepositoryName } from '@paddock/github/repositories';

/** Where a job was found: in a repository by its present name, through the installation that shows it. */
type FoundAt = EntityToAsk & {
  readonly repoId: number;
  readonly repoFullName: string;
  /** Null: unknown. */
  readonly isPublic: boolean | null;
};

/**
 * Turns GitHub's answer for a job into the delivery that would say the same, so that the same rules
 * read both. Throws if the answer lacks a required field.
 */
export function findingOf(job: GitHubJob, action: WorkflowJobAction, at: FoundAt): Finding {
  const said = {
    action,
    workflow_job: {
      id: job.id,
      run_id: job.runId,
      run_attempt: job.runAttempt,
      name: job.name,
      workflow_name: job.workflowName,
      html_url: job.htmlUrl,
      labels: job.labels,
      status: job.status,
      conclusion: job.conclusion,
      created_at: job.createdAt,
      started_at: job.startedAt,
      completed_at: job.completedAt,
      runner_id: job.runnerId,
      runner_name: job.runnerName,
    },
    repository: {
      id: at.repoId,
      full_name: at.repoFullName,
      private: at.isPublic === false,
      owner: { id: at.entityId, login: at.login, type: at.entityType },
    },
    installation: { id: at.installationId },
  };
  const payload = JSON.stringify(said);
  const parsed = parseDelivery('workflow_job', said);
  if (parsed.kind !== 'job')
    throw new Error(
      `GitHub's answer for job ${job.id} cannot be used: ${'problem' in parsed ? parsed.problem : parsed.kind}`,
    );
  const statement = { ...parsed.job, isPublic: at.isPublic, appId: at.appId, deliveryGuid: null };
  // The client replaces characters that cannot be stored by U+FFFD. One sent by GitHub was a
  // replacement too.
  return {
    event: `discovered.${action}`,
    statement,
    payload,
    payloadRepaired: payload.includes('\uFFFD'),
  };
}

/** Splits `owner/name`. Undefined for any other text. */
export function parseRepositoryName(fullName: string): RepositoryName | undefined {
  const [owner, repo, ...rest] = fullName.split('/');
  return owner === undefined || owner === '' || repo === undefined || repo === '' || rest.length > 0
    ? undefined
    : { owner, repo };
}
