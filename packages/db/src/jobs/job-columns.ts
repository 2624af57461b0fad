import type { JobRow } from '@paddock/domain/jobs/merge-statement';

type Columns<K extends string> = Readonly<Record<K, readonly [column: string, type: string]>>;

/** The columns that statements change, with their types, by the properties of JobRow. */
export const MERGED: Columns<Exclude<keyof JobRow, 'isInDoubt'>> = {
  status: ['status', 'status_enum'],
  wantsWorker: ['wants_worker', 'boolean'],
  pool: ['k8s_pool', 'text'],
  image: ['k8s_image', 'text'],
  scopeRepoId: ['scope_repo_id', 'bigint'],
  poolsVersion: ['pools_version', 'integer'],
  appId: ['app_id', 'bigint'],
  installationId: ['installation_id', 'bigint'],
  conclusion: ['conclusion', 'text'],
  runnerName: ['runner_name', 'text'],
  runnerId: ['runner_id', 'bigint'],
  podName: ['k8s_pod', 'text'],
  workflowName: ['workflow_name', 'text'],
  htmlUrl: ['html_url', 'text'],
  queuedAt: ['queued_at', 'timestamptz'],
  startedAt: ['started_at', 'timestamptz'],
  completedAt: ['completed_at', 'timestamptz'],
  misjudged: ['misjudged', 'boolean'],
};

/** The columns that a job's first statement sets for ever. */
export const LASTING = {
  jobId: ['job_id', 'bigint'],
  entityId: ['entity_id', 'bigint'],
  entityName: ['entity_name', 'text'],
  entityType: ['entity_type', 'text'],
  repoId: ['repo_id', 'bigint'],
  repoFullName: ['repo_full_name', 'text'],
  labels: ['job_labels', 'jsonb'],
  runId: ['run_id', 'bigint'],
  runAttempt: ['run_attempt', 'integer'],
  jobName: ['job_name', 'text'],
  deliveryGuid: ['delivery_guid', 'text'],
} satisfies Columns<string>;

/** SQL for each of the columns. */
export const each = (
  columns: Columns<string>,
  sqlOf: (property: string, column: string, type: string) => string,
): string =>
  Object.entries(columns)
    .map(([property, [column, type]]) => sqlOf(`"${property}"`, column, type))
    .join(', ');
