import type { DeliveredStatement } from '@paddock/domain/deliveries/fold-job-statements';
import { storableLabels } from '@paddock/domain/pools/labels';
import {
  type IgnoredJob,
  type PlacedJob,
  placeJob,
  poolsClosedTo,
  poolsNamingLogin,
} from '@paddock/domain/pools/place-job';
import { admittingLogin, type PoolsDocument } from '@paddock/domain/pools/pools-document';

/**
 * A job's folded facts and its pool. Without a pool it is stored only if it has a row or runs on
 * one of our workers.
 */
export interface JobToStore {
  readonly facts: DeliveredStatement;
  readonly place: PlacedJob | undefined;
  /**
   * The login, in lower case, by which its entity is admitted: it has to be this entity's own
   * (`login_pins`).
   */
  readonly byLogin: string | undefined;
  /** Pools that do not serve such jobs: a worker of theirs that runs it is misused. */
  readonly closedPools?: readonly string[];
  /**
   * Pools that name its entity's login: they do not serve it either if that is another entity's.
   */
  readonly namingPools?: readonly string[];
}

/** A job's folded facts with all that a pools document says of them. */
export function decideOn(
  document: PoolsDocument,
  facts: DeliveredStatement,
): JobToStore & { readonly decision: PlacedJob | IgnoredJob } {
  const decision = placeJob(document, facts);
  const job = { ...jobToStore(document, facts, decision), decision };
  if (facts.runnerName === null) return job;
  return {
    ...job,
    closedPools: poolsClosedTo(document, facts),
    namingPools: poolsNamingLogin(document, facts),
  };
}

/** A job as the pools of `document` have decided about it. */
export const jobToStore = (
  document: PoolsDocument,
  facts: DeliveredStatement,
  decision: PlacedJob | IgnoredJob,
): JobToStore =>
  'ignored' in decision
    ? { facts, place: undefined, byLogin: undefined }
    : { facts, place: decision, byLogin: admittingLogin(document, facts.entity, decision) };

/** The stated columns of a job, as parameters of the statements that store jobs. */
export const STATED_COLUMNS = {
  job_id: 'bigint',
  status: 'status_enum',
  entity_id: 'bigint',
  entity_name: 'text',
  entity_type: 'text',
  repo_id: 'bigint',
  repo_full_name: 'text',
  app_id: 'bigint',
  installation_id: 'bigint',
  job_labels: 'jsonb',
  k8s_pool: 'text',
  k8s_image: 'text',
  scope_repo_id: 'bigint',
  run_id: 'bigint',
  run_attempt: 'integer',
  job_name: 'text',
  workflow_name: 'text',
  html_url: 'text',
  conclusion: 'text',
  runner_name: 'text',
  runner_id: 'bigint',
  queued_at: 'timestamptz',
  started_at: 'timestamptz',
  completed_at: 'timestamptz',
  delivery_guid: 'text',
  by_login: 'text',
} as const;

export function statedColumns({
  facts,
  place,
  byLogin,
}: JobToStore): Readonly<Record<keyof typeof STATED_COLUMNS, unknown>> {
  return {
    job_id: facts.jobId,
    status: facts.status,
    entity_id: facts.entity.id,
    entity_name: facts.entity.login,
    entity_type: facts.entity.type,
    repo_id: facts.repoId,
    repo_full_name: facts.repoFullName,
    app_id: facts.appId,
    installation_id: facts.installationId,
    job_labels: storableLabels(facts.labels),
    k8s_pool: place?.pool,
    k8s_image: place?.image,
    scope_repo_id: place?.scopeRepoId,
    run_id: facts.runId,
    run_attempt: facts.runAttempt,
    job_name: facts.jobName,
    workflow_name: facts.workflowName,
    html_url: facts.htmlUrl,
    conclusion: facts.conclusion,
    runner_name: facts.runnerName,
    runner_id: facts.runnerId,
    queued_at: facts.queuedAt,
    started_at: facts.startedAt,
    completed_at: facts.completedAt,
    delivery_guid: facts.deliveryGuid,
    by_login: byLogin,
  };
}
